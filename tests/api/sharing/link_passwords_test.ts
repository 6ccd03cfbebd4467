import { assert, assertEquals, assertMatch } from "@std/assert";
import { basic, BROWSER, FORM, form, makeLink, visit } from "../../support/sharing/links.ts";
import { suite } from "../../support/suite.ts";

const test = suite("Links with a password");

test("Programs send the password as HTTP Basic, with any user name.", async (drive) => {
  await drive.put("a", "inside");
  const { url } = await makeLink(drive, { name: "a", password: "pass: wört" });
  const missing = (await visit(url)).expect(401);
  assertMatch(missing.header("WWW-Authenticate"), /^Basic /);
  assertEquals(missing.errors.length, 1);
  for (const user of ["", "me"]) {
    const answer = (await visit(url, { headers: basic("pass: wört", user) })).expect(200);
    assertEquals([answer.text, answer.header("Cache-Control")], ["inside", "no-store"]);
  }
  for (const wrong of ["", "pass", "pass: wört ", "PASS: WÖRT"]) {
    (await visit(url, { headers: basic(wrong) })).expect(401);
  }
  (await visit(url, { headers: { Authorization: "Basic !" } })).expect(401);
  (await visit(url, { method: "HEAD", headers: basic("pass: wört") })).expect(200);
});

test("A browser gets a page, and after the password a cookie for this link alone.", async (drive) => {
  await drive.put("t/a", "inside");
  const { url } = await makeLink(drive, { prefix: "t/", password: "geheim" });
  const { url: other } = await makeLink(drive, { prefix: "t/", password: "geheim" });
  const page = (await visit(`${url}?name=a`, { headers: BROWSER })).expect(401);
  assert(page.text.includes('<form method="post">') && !page.text.includes("role="), page.text);
  assert(!page.header("WWW-Authenticate").toLowerCase().includes("basic"));
  assert(page.bytes.length < 30_000);
  const wrong = await visit(url, { method: "POST", headers: FORM, body: form("x") });
  assert(wrong.expect(401).text.includes('role="alert"'), wrong.text);
  assertEquals(wrong.headers.has("Set-Cookie"), false);
  const body = form("geheim");
  const right = (await visit(`${url}?name=a`, { method: "POST", headers: FORM, body })).expect(303);
  const path = new URL(url).pathname;
  assertEquals(right.header("Location"), `${path}?name=a`);
  const cookie = right.header("Set-Cookie");
  assertMatch(
    cookie,
    /^kvdrive_link=[\w.-]+; Path=\/s\/\w.*; Max-Age=43200; HttpOnly; SameSite=Lax$/,
  );
  assert(cookie.includes(`Path=${path};`), cookie);
  const Cookie = cookie.split(";")[0] ?? "";
  assertEquals((await visit(`${url}?name=a`, { headers: { Cookie } })).expect(200).text, "inside");
  (await visit(`${other}?name=a`, { headers: { Cookie } })).expect(401);
  const forged = Cookie.replace(/=\d/, "=9");
  (await visit(`${url}?name=a`, { headers: { Cookie: forged } })).expect(401);
  const among = { Cookie: `a=b; kvdrive_link=x; ${Cookie}` };
  (await visit(`${url}?name=a`, { headers: among })).expect(200);
});

test("A link whose file is gone is 404 with and without the password.", async (drive) => {
  const { url } = await makeLink(drive, { name: "a", password: "x" });
  for (const headers of [{}, BROWSER, basic("wrong"), basic("x")]) {
    (await visit(url, { headers })).expect(404);
  }
  (await visit(url, { method: "HEAD" })).expect(404);
  (await visit(url, { method: "POST", headers: FORM, body: form("wrong") })).expect(404);
  await drive.put("a", "inside");
  (await visit(url)).expect(401);
});

test("With TLS in front, the cookie is for TLS only.", async (drive) => {
  await drive.put("a", "inside");
  const { url } = await makeLink(drive, { name: "a", password: "x" });
  const headers = { ...FORM, "X-Forwarded-Proto": "https" };
  const answer = (await visit(url, { method: "POST", headers, body: form("x") })).expect(303);
  assert(answer.header("Set-Cookie").endsWith("; Secure"), answer.header("Set-Cookie"));
});

test("A form that is none is refused.", async (drive) => {
  await drive.put("a", "inside");
  const { url } = await makeLink(drive, { name: "a", password: "x" });
  const json = { "Content-Type": "application/json" };
  (await visit(url, { method: "POST", headers: json, body: '{"password":"x"}' })).expect(400);
  (await visit(url, { method: "POST", headers: FORM, body: "pass=x" })).expect(400);
  (await visit(url, { method: "POST", headers: FORM, body: form("y".repeat(5000)) })).expect(413);
  const { url: open } = await makeLink(drive, { name: "a" });
  (await visit(open, { method: "POST", headers: FORM, body: form("x") })).expect(303);
});

test("While passwords are checked, other requests are answered.", async (drive) => {
  await drive.put("a", "x");
  const { url } = await makeLink(drive, { name: "a", password: "right" });
  const guesses = Array.from({ length: 60 }, () => visit(url, { headers: basic("wrong") }));
  const began = performance.now();
  for (let i = 0; i < 5; i++) (await drive.get("a")).expect(200);
  const took = performance.now() - began;
  const statuses = new Set((await Promise.all(guesses)).map(({ status }) => status));
  assert([...statuses].every((status) => status === 401 || status === 503), [...statuses].join());
  assert(took < 5000, String(took));
});

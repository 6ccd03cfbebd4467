import { assert, assertEquals, assertMatch } from "@std/assert";
import { delay } from "@std/async/delay";
import { newAddress } from "../../support/server.ts";
import { basic, BROWSER, makeLink, visit } from "../../support/sharing/links.ts";
import { suite } from "../../support/suite.ts";

const test = suite("Links with a password");

/** Each process counts for itself. */
const alone = suite("Wrong passwords of links", { twin: false });

const FORM = { ...BROWSER, "Content-Type": "application/x-www-form-urlencoded" };

/** The form with a password. */
function form(password: string): string {
  return new URLSearchParams({ password }).toString();
}

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

alone(
  "Wrong passwords count with wrong keys, and then even the right one has to wait.",
  async (drive) => {
    await drive.put("a", "inside");
    const { url } = await makeLink(drive, { name: "a", password: "right" });
    const from = { "X-Forwarded-For": newAddress() };
    for (let i = 0; i < 20; i++) {
      (await visit(url, { headers: { ...from, ...basic(`wrong ${i}`) } })).expect(401);
    }
    const refused = (await visit(url, { headers: { ...from, ...basic("right") } })).expect(429);
    assertMatch(refused.header("Retry-After"), /^\d+$/);
    const page =
      (await visit(url, { method: "POST", headers: { ...FORM, ...from }, body: form("right") }))
        .expect(429);
    assert(page.text.startsWith("<!doctype html>"));
    (await drive.send("GET", "/links", { key: "wrong", headers: from })).expect(429);
    (await visit(url, { headers: basic("right") })).expect(200);
  },
);

alone("Wrong keys and unknown addresses delay no password.", async (drive) => {
  await drive.put("a", "inside");
  const { url } = await makeLink(drive, { name: "a", password: "right" });
  const unknown = `${new URL(url).origin}/s/unknown`;
  const from = { "X-Forwarded-For": newAddress() };
  for (let i = 0; i < 25; i++) {
    (await drive.send("GET", "/links", { key: "wrong", headers: from })).expect(i < 20 ? 401 : 429);
    (await visit(unknown, { headers: from })).expect(404);
  }
  (await visit(url, { headers: { ...from, ...basic("right") } })).expect(200);
  const page = { method: "POST", headers: { ...FORM, ...from }, body: form("right") };
  (await visit(url, page)).expect(303);
  (await visit(url, { headers: { ...from, ...basic("wrong") } })).expect(401);
});

alone("Wrong passwords of one link delay those of no other.", async (drive) => {
  await drive.put("a", "inside");
  const { url } = await makeLink(drive, { name: "a", password: "right" });
  const { url: other } = await makeLink(drive, { name: "a", password: "right" });
  const from = { "X-Forwarded-For": newAddress() };
  for (let i = 0; i < 20; i++) {
    (await visit(url, { headers: { ...from, ...basic("x") } })).expect(401);
  }
  (await visit(url, { headers: { ...from, ...basic("right") } })).expect(429);
  (await visit(other, { headers: { ...from, ...basic("x") } })).expect(401);
  (await visit(other, { headers: { ...from, ...basic("right") } })).expect(200);
});

alone(
  "What a page of another site sends is not counted, and tells nothing of a password.",
  async (drive) => {
    await drive.put("a", "inside");
    const { url } = await makeLink(drive, { name: "a", password: "right" });
    const from = { "X-Forwarded-For": newAddress() };
    for (const site of ["cross-site", "same-site"]) {
      const foreign = { ...from, "Sec-Fetch-Site": site };
      for (let i = 0; i < 25; i++) {
        (await visit(url, { headers: { ...foreign, ...basic("wrong") } })).expect(401);
        (await drive.send("GET", "/links", { key: "wrong", headers: foreign })).expect(401);
      }
      (await visit(url, { headers: { ...foreign, ...basic("right") } })).expect(401);
      const posted = { method: "POST", headers: { ...FORM, ...foreign }, body: form("right") };
      assert(!(await visit(url, posted)).expect(401).text.includes('role="alert"'));
      (await drive.send("GET", "/links", { headers: foreign })).expect(200);
    }
    (await drive.send("GET", "/links", { key: "wrong", headers: from })).expect(401);
    const own = { ...from, "Sec-Fetch-Site": "same-origin" };
    const posted = { method: "POST", headers: { ...FORM, ...own }, body: form("right") };
    const cookie = (await visit(url, posted)).expect(303).header("Set-Cookie").split(";")[0] ?? "";
    // The link is on another site, and the browser has the password.
    const follow = { ...from, "Sec-Fetch-Site": "cross-site", Cookie: cookie };
    (await visit(url, { headers: follow })).expect(200);
  },
);

alone(
  "Guesses that are sent side by side tell no more than those that are sent one by one.",
  async (drive) => {
    await drive.put("a", "inside");
    const { url } = await makeLink(drive, { name: "a", password: "right" });
    const from = { "X-Forwarded-For": newAddress() };
    const guess = (password: string) => visit(url, { headers: { ...from, ...basic(password) } });
    for (let i = 0; i < 19; i++) (await guess(`wrong ${i}`)).expect(401);
    const wrong = Array.from({ length: 20 }, (_, i) => guess(`side by side ${i}`));
    // Passwords are checked one after the other: this one waits for the others.
    await delay(100);
    const right = await guess("right");
    const statuses = (await Promise.all(wrong)).map(({ status }) => status);
    assertEquals(statuses.filter((status) => status === 401).length, 1);
    right.expect(429);
  },
);

alone("Unknown addresses are no wrong keys.", async (drive) => {
  const from = { "X-Forwarded-For": newAddress() };
  const unknown = `${new URL((await makeLink(drive, { name: "a" })).url).origin}/s/unknown`;
  for (let i = 0; i < 25; i++) (await visit(unknown, { headers: from })).expect(404);
  (await drive.send("GET", "/links", { key: "wrong", headers: from })).expect(401);
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

import { assert, assertEquals, assertMatch } from "@std/assert";
import { delay } from "@std/async/delay";
import { newAddress } from "../../support/server.ts";
import { basic, FORM, form, makeLink, visit } from "../../support/sharing/links.ts";
import { suite } from "../../support/suite.ts";

/** Each process counts for itself. */
const test = suite("Wrong passwords of links", { twin: false });

test(
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

test("Wrong keys and unknown addresses delay no password.", async (drive) => {
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

test("Wrong passwords of one link delay those of no other.", async (drive) => {
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

test(
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

test(
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

test("Unknown addresses are no wrong keys.", async (drive) => {
  const from = { "X-Forwarded-For": newAddress() };
  const unknown = `${new URL((await makeLink(drive, { name: "a" })).url).origin}/s/unknown`;
  for (let i = 0; i < 25; i++) (await visit(unknown, { headers: from })).expect(404);
  (await drive.send("GET", "/links", { key: "wrong", headers: from })).expect(401);
});

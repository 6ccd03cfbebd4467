import {
  assert,
  assertEquals,
  assertMatch,
  assertNotEquals,
  assertStringIncludes,
} from "@std/assert";
import { delay } from "@std/async/delay";
import { SECONDS } from "../../support/admin.ts";
import { basic, changeLink, linksOf, makeLink, visit } from "../../support/sharing/links.ts";
import { addCases, suite } from "../../support/suite.ts";

const test = suite("Links: made, listed and revoked");

/** Another process knows a count of downloads some seconds later. */
const alone = suite("Links: counted downloads", { twin: false });

/** Asserts that a time in whole seconds is so many seconds after a request that was sent since `began`. */
function assertAhead(time: string | null, seconds: number, began: number): void {
  const set = Date.parse(time ?? "") - seconds * 1000;
  assert(set > began - 2000 && set < Date.now() + 1000, String(time));
}

test("A link has all its fields, and its address opens the file without a key.", async (drive) => {
  await drive.put("trip/a b.txt", "hello");
  const link = await makeLink(drive, { name: "trip/a b.txt" });
  assertEquals(Object.keys(link).sort(), [
    ...["created", "download", "downloads", "expires", "has_password", "id"],
    ...["max_downloads", "name", "url"],
  ]);
  assertMatch(link.created, SECONDS);
  const { expires, download, has_password, max_downloads, downloads, name } = link;
  assertEquals(
    [expires, download, has_password, max_downloads, downloads, name],
    [null, false, false, null, 0, "trip/a b.txt"],
  );
  assert(link.url.startsWith(`${new URL(link.url).origin}/s/`), link.url);
  assertEquals((await visit(link.url)).expect(200).text, "hello");
});

alone("A list of links counts every download before it.", async (drive) => {
  await drive.put("a", "hello");
  const { url } = await makeLink(drive, { name: "a" });
  for (let count = 1; count <= 3; count++) {
    (await visit(url)).expect(200);
    assertEquals((await linksOf(drive)).map(({ downloads }) => downloads), [count]);
  }
});

test("A link with all settings shows them, but not its password.", async (drive) => {
  const body = {
    prefix: "a/",
    expires_in: 60,
    download: true,
    password: "s3cret",
    max_downloads: 7,
  };
  const before = Date.now();
  const link = await makeLink(drive, body);
  assertMatch(link.expires ?? "", SECONDS);
  assertAhead(link.expires, 60, before);
  assertEquals([link.prefix, link.download, link.has_password, link.max_downloads], [
    "a/",
    true,
    true,
    7,
  ]);
  assertEquals(JSON.stringify(await linksOf(drive)).includes("s3cret"), false);
  assertEquals(await linksOf(drive), [link]);
});

test("A link ends exactly so long after its creation.", async (drive) => {
  const body = { name: "a", expires_in: 3600, password: "s3cret" };
  for (let i = 0; i < 4; i++) {
    // The password is hashed across the end of a second.
    await delay(1000 - (Date.now() + 20) % 1000);
    const { created, expires } = await makeLink(drive, body);
    assertEquals(Date.parse(expires ?? "") - Date.parse(created), 3_600_000);
  }
});

test("null counts as absent, and an empty prefix is the whole drive.", async (drive) => {
  const nothing = { expires_in: null, password: null, max_downloads: null };
  const link = await makeLink(drive, { prefix: "", name: null, ...nothing });
  assertEquals([link.prefix, link.expires, link.has_password, link.max_downloads], [
    "",
    null,
    false,
    null,
  ]);
});

test("Links are listed newest first, in pages.", async (drive) => {
  const made = [];
  for (let i = 0; i < 5; i++) made.unshift((await makeLink(drive, { name: `f${i}` })).id);
  assertEquals((await linksOf(drive)).map(({ id }) => id), made);
  const first = (await drive.send("GET", "/links?limit=2")).expect(200).json as {
    links: { id: string }[];
    paging: { size: number; last: string };
  };
  assertEquals(first.paging, { size: 2, last: made[1] });
  assertEquals(
    (await linksOf(drive, `?limit=3&last=${first.paging.last}`)).map(({ id }) => id),
    made.slice(2),
  );
  const rest = (await drive.send("GET", `/links?last=${made[1]}`)).expect(200).json;
  assertEquals("paging" in (rest as object), false);
  (await drive.send("GET", "/links?limit=0")).expect(400);
  assertEquals(await linksOf(drive.another("other")), []);
});

test("A revoked link is gone at once, and another drive cannot revoke it.", async (drive) => {
  await drive.put("a", "x");
  const { id, url } = await makeLink(drive, { name: "a" });
  (await visit(url)).expect(200);
  (await drive.another("other").send("DELETE", `/links/${id}`)).expect(404);
  assertEquals((await drive.send("DELETE", `/links/${id}`)).expect(200).json, { id });
  (await visit(url)).expect(404);
  assertEquals(await linksOf(drive), []);
  (await drive.send("DELETE", `/links/${id}`)).expect(404);
  (await drive.send("DELETE", "/links/%2e")).expect(404);
});

test("A changed link keeps its address, and each field that is not given.", async (drive) => {
  await drive.put("a", "hello");
  const link = await makeLink(drive, { name: "a", max_downloads: 1, password: "s3cret" });
  const headers = basic("s3cret");
  (await visit(link.url, { headers })).expect(200);
  (await visit(link.url, { headers })).expect(404);
  const more = await changeLink(drive, link.id, { max_downloads: 3 });
  assertEquals(more, { ...link, max_downloads: 3, downloads: 1 });
  (await visit(link.url)).expect(401);
  (await visit(link.url, { headers })).expect(200);
  const open = await changeLink(drive, link.id, { password: null, download: true });
  assertEquals([open.has_password, open.download, open.max_downloads], [false, true, 3]);
  const saved = (await visit(link.url)).expect(200);
  assertMatch(saved.headers.get("content-disposition") ?? "", /^attachment/);
  (await visit(link.url)).expect(404);
  const before = Date.now();
  const bounded = await changeLink(drive, link.id, { expires_in: 60, max_downloads: null });
  assertAhead(bounded.expires, 60, before);
  (await visit(link.url)).expect(200);
  assertEquals((await changeLink(drive, link.id, { expires_in: null })).expires, null);
  const [listed] = await linksOf(drive);
  assertEquals([listed?.id, listed?.url, listed?.downloads], [link.id, link.url, 4]);
});

test("Only an existing link of the drive is changed, after the body was read.", async (drive) => {
  const { id } = await makeLink(drive, { name: "a" });
  const change = async (id: string, body: unknown, on = drive) =>
    await on.send("PATCH", `/links/${id}`, { body: JSON.stringify(body) });
  (await change(id, { download: true }, drive.another("other"))).expect(404);
  (await change("01J9Z3NDEKTSV4RRFFQ69G5FAV", { download: true })).expect(404);
  (await change("%2e", { download: true })).expect(404);
  const wrong: [unknown, string][] = [
    [{}, "max_downloads"],
    [[], "it is not an object"],
    [{ name: "b" }, '"name" is unknown'],
    [{ expires_in: 0 }, '"expires_in" must be a whole number from 1'],
    [{ max_downloads: 0 }, '"max_downloads" must be a whole number'],
    [{ password: "" }, '"password" is empty'],
    [{ download: null }, '"download" must be true or false'],
  ];
  for (const [body, sentence] of wrong) {
    for (const each of [id, "none"]) {
      assertStringIncludes(
        (await change(each, body)).expect(400).text,
        JSON.stringify(sentence).slice(1, -1),
      );
    }
  }
  const [listed] = await linksOf(drive);
  assertEquals([listed?.expires, listed?.has_password, listed?.max_downloads], [null, false, null]);
  (await drive.send("DELETE", `/links/${id}`)).expect(200);
  (await change(id, { download: true })).expect(404);
});

test("Two links on a file have different addresses, and the same one each time.", async (drive) => {
  const [a, b] = [await makeLink(drive, { name: "a" }), await makeLink(drive, { name: "a" })];
  assertNotEquals(a.url, b.url);
  // Each server answers with its own origin.
  const listed = (await linksOf(drive)).map(({ url }) => new URL(url).pathname);
  assertEquals(listed, [b, a].map(({ url }) => new URL(url).pathname));
  assertEquals(new URL(a.url).pathname.length >= "/s/".length + 22, true);
});

test("Only a key of the project makes, lists, changes and revokes links.", async (drive) => {
  const { id } = await makeLink(drive, { name: "a" });
  for (
    const [method, path] of [
      ...[["POST", "/links"], ["GET", "/links"]],
      ...[["PATCH", `/links/${id}`], ["DELETE", `/links/${id}`]],
    ]
  ) {
    const none = await drive.send(method ?? "", path ?? "", { key: null, body: null as never });
    none.expect(401);
  }
  assertEquals((await linksOf(drive)).length, 1);
});

const wrong: [string, unknown, string][] = [
  ["no target", {}, '"name" or a "prefix"'],
  ["two targets", { name: "a", prefix: "b" }, '"name" or a "prefix"'],
  ["a name that is a folder", { name: "a/" }, '"name" ends with'],
  ["a blank name", { name: " " }, '"name" is blank'],
  ["a name that is no text", { name: 1 }, '"name" must be a string'],
  ["a prefix with NUL", { prefix: "a\0" }, '"prefix" has a NUL'],
  ["a prefix that is too long", { prefix: "x".repeat(1025) }, '"prefix" has 1025 bytes'],
  ["a life of 0", { name: "a", expires_in: 0 }, '"expires_in" must be a whole number from 1'],
  ["a life of more than ten years", { name: "a", expires_in: 315_360_001 }, "315360000"],
  ["a life of half a second", { name: "a", expires_in: 0.5 }, '"expires_in"'],
  ["a life as text", { name: "a", expires_in: "60" }, '"expires_in"'],
  ["no downloads", { name: "a", max_downloads: 0 }, '"max_downloads" must be a whole number'],
  ["an empty password", { name: "a", password: "" }, '"password" is empty'],
  ["a long password", { name: "a", password: "x".repeat(1025) }, '"password" has 1025 bytes'],
  ["a password that is no text", { name: "a", password: 1 }, '"password" must be a string'],
  ["a download that is no flag", { name: "a", download: 1 }, '"download" must be true or false'],
  ["an unknown field", { name: "a", expires: 1 }, '"expires" is unknown'],
  ["no object", [], "it is not an object"],
];
addCases(
  test,
  wrong.map(([what, body, sentence]) => ({
    name: `A link with ${what} is 400.`,
    method: "POST",
    path: "/links",
    body: JSON.stringify(body),
    status: 400,
    contains: [sentence.replaceAll('"', '\\"')],
  })),
);

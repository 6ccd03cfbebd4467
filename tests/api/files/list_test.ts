import { assert, assertEquals, assertMatch } from "@std/assert";
import { patternBytes } from "../../support/bytes.ts";
import { type Drive, type Listing, query, uploadParts } from "../../support/drive.ts";
import { AWKWARD_NAMES, byUtf8Bytes } from "../../support/names.ts";
import { addCases, suite } from "../../support/suite.ts";

const test = suite("GET /files lists names");

const NAMES = ["a", "a/1", "a/2", "ab", "b", "b/c/d", "c d", "é"];

test("An unknown drive lists as empty.", async (drive) => {
  assertEquals(await drive.list(), { names: [] });
  assertEquals(await drive.list({ prefix: "a", limit: 5, last: "b" }), { names: [] });
  assertEquals(await drive.usage(), undefined);
});

test("All names that fit are listed without paging.", async (drive) => {
  await drive.putAll(NAMES.toReversed());
  assertEquals(await drive.list(), { names: NAMES });
});

// "Names in the order of their UTF-8 bytes."
test("Names come in the order of their UTF-8 bytes.", async (drive) => {
  // UTF-16 code units would put the emoji, whose first unit is U+D83E, before U+FFFD and U+E000.
  const ordered = ["!", "A", "Z", "a", "a\u0001", "a!", "aa", "z", "\u007f", "é", "\ue000"];
  ordered.push("\ufb00", "\ufffd", "🦖", "\u{10ffff}");
  await drive.putAll(ordered.toReversed());
  assertEquals(await drive.names(), ordered);
  assertEquals(await drive.names({ last: "\ufffd" }), ["🦖", "\u{10ffff}"]);
  assertEquals(await drive.list({ last: "\ue000", limit: 2 }), {
    names: ["\ufb00", "\ufffd"],
    paging: { size: 2, last: "\ufffd" },
  });
});

const PREFIXES: [string, string[]][] = [
  ["a", ["a", "a/1", "a/2", "ab"]],
  ["a/", ["a/1", "a/2"]],
  ["ab", ["ab"]],
  ["b/c", ["b/c/d"]],
  ["c ", ["c d"]],
  ["é", ["é"]],
  ["e", []],
  ["A", []],
  ["a/1/", []],
  ["", NAMES],
  ["/", []],
  ["*", []],
  ["zz", []],
];

for (const [prefix, names] of PREFIXES) {
  test(`The prefix "${prefix}" selects [${names}].`, async (drive) => {
    await drive.putAll(NAMES);
    assertEquals(await drive.list({ prefix }), { names });
  });
}

test("A prefix may be emoji.", async (drive) => {
  await drive.putAll(["🦕", "🦖a", "🦖b", "🦗", "\u{10ffff}\u{10ffff}", "\u{10ffff}"]);
  assertEquals(await drive.names({ prefix: "🦖" }), ["🦖a", "🦖b"]);
  const highest = "\u{10ffff}";
  assertEquals(await drive.names({ prefix: highest }), [highest, highest + highest]);
});

const LASTS: [Record<string, string>, string[]][] = [
  [{ last: "b" }, ["b/c/d", "c d", "é"]],
  [{ last: "aa" }, ["ab", "b", "b/c/d", "c d", "é"]],
  [{ last: "0" }, NAMES],
  [{ last: "" }, NAMES],
  [{ last: "é" }, []],
  [{ last: "zzz" }, ["é"]],
  [{ prefix: "a", last: "a" }, ["a/1", "a/2", "ab"]],
  [{ prefix: "a/", last: "a/1" }, ["a/2"]],
  [{ prefix: "a/", last: "a" }, ["a/1", "a/2"]],
  [{ prefix: "a/", last: "b" }, []],
  [{ prefix: "b", last: "a" }, ["b", "b/c/d"]],
];

for (const [parameters, names] of LASTS) {
  test(`${JSON.stringify(parameters)} continues with [${names}].`, async (drive) => {
    await drive.putAll(NAMES);
    assertEquals(await drive.list(parameters), { names });
  });
}

// "`paging` if and only if there is a further page"
test("Paging is present if and only if there is a next page.", async (drive) => {
  await drive.putAll(["a", "b", "c"]);
  const first = { names: ["a", "b"], paging: { size: 2, last: "b" } };
  assertEquals(await drive.list({ limit: 2 }), first);
  assertEquals(await drive.list({ limit: 2, last: "b" }), { names: ["c"] });
  assertEquals(await drive.list({ limit: 3 }), { names: ["a", "b", "c"] });
  assertEquals(await drive.list({ limit: 4 }), { names: ["a", "b", "c"] });
  assertEquals(await drive.list({ limit: 1, prefix: "b" }), { names: ["b"] });
});

for (const limit of [1, 2, 3]) {
  test(`A walk with limit=${limit} gives every name once, in order.`, async (drive) => {
    const names = AWKWARD_NAMES.map(({ name }) => name);
    await drive.putAll(names);
    assertEquals(await walk(drive, { limit }), names.toSorted(byUtf8Bytes));
  });
}

test("A walk within a prefix returns each name once, in order.", async (drive) => {
  await drive.putAll(NAMES);
  assertEquals(await walk(drive, { limit: 1, prefix: "a" }), ["a", "a/1", "a/2", "ab"]);
});

test("A walk continues after its last name was deleted.", async (drive) => {
  await drive.putAll(["a", "b", "c"]);
  const { paging } = await drive.list({ limit: 2 });
  await drive.delete(["b"]);
  assertEquals(await drive.list({ limit: 2, last: paging?.last ?? "" }), { names: ["c"] });
});

// "Defaults to 1000." – "above 1000 it counts as 1000"
test("A page has at most 1000 names, with any limit.", async (drive) => {
  const names = Array.from({ length: 1_001 }, (_, i) => `n${String(i).padStart(4, "0")}`);
  await drive.fill(names);
  const page = { names: names.slice(0, 1_000), paging: { size: 1_000, last: "n0999" } };
  for (const parameters of [{}, { limit: 1_000 }, { limit: 1_001 }, { limit: 5_000 }]) {
    assertEquals(await drive.list(parameters), page);
  }
  assertEquals(await drive.list({ limit: "99999999999999999999" }), page);
  assertEquals(await drive.list({ last: "n0999" }), { names: ["n1000"] });
  assertEquals((await drive.list({ limit: 999 })).names.length, 999);
  await drive.delete(["n0000"]);
  assertEquals(await drive.list(), { names: names.slice(1) });
});

test("details=true lists size, type, tag and dates of each file.", async (drive) => {
  await drive.put("a.png", patternBytes(70_000));
  await drive.put("b", "", { "Content-Type": "text/x-own" });
  await uploadParts(drive, "c.txt", [patternBytes(5_000_000), patternBytes(1)]);
  const { names, files = [] } = await drive.list({ details: "true" });
  assertEquals(names, ["a.png", "b", "c.txt"]);
  assertEquals(files.map(({ name }) => name), names);
  assertEquals(files.map(({ size }) => size), [70_000, 0, 5_000_001]);
  assertEquals(files.map((f) => f.content_type), ["image/png", "text/x-own", "text/plain"]);
  for (const file of files) {
    const keys = ["content_type", "created", "etag", "modified", "name", "size"];
    assertEquals(Object.keys(file).sort(), keys);
    const { headers } = await drive.get(file.name);
    assertEquals(`"${file.etag}"`, headers.get("ETag"));
    assertMatch(file.created, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/);
    assertMatch(file.modified, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/);
    assert(file.created <= file.modified);
    assertEquals(new Date(file.modified).toUTCString(), headers.get("Last-Modified"));
  }
});

test("An overwritten file keeps the date of its creation.", async (drive) => {
  await drive.put("a", "one");
  const [before] = await drive.details();
  await drive.put("a", "two");
  const [after] = await drive.details();
  assertEquals(after?.created, before?.created);
  assert((after?.modified ?? "") >= (before?.modified ?? "none"));
});

test("details=true pages like the list without it.", async (drive) => {
  await drive.putAll(NAMES);
  const { files, ...page } = await drive.list({ details: "true", limit: 3, prefix: "a" });
  assertEquals(page, await drive.list({ limit: 3, prefix: "a" }));
  assertEquals(files?.map(({ name }) => name), page.names);
});

test("Without details=true there are no details.", async (drive) => {
  await drive.put("a", "x");
  assertEquals(await drive.list({ details: "false" }), { names: ["a"] });
});

const BAD_LIMITS = ["0", "-1", "abc", "1.5", "", "+5", " 5", "5 ", "1e3", "0x10", "٣", "NaN", "∞"];

addCases(
  test,
  BAD_LIMITS.map((limit) => ({
    name: `The limit "${limit}" is refused.`,
    method: "GET",
    path: `/files${query({ limit })}`,
    status: 400,
    contains: ["limit"],
    notContains: ["names"],
  })),
);

test("A prefix or a last that is longer than any name is no error.", async (drive) => {
  await drive.putAll(["a", "aa", "z"]);
  for (const length of [1_025, 5_000]) {
    const long = "a".repeat(length);
    assertEquals(await drive.list({ prefix: long }), { names: [] });
    assertEquals(await drive.list({ last: long }), { names: ["z"] });
    assertEquals(await drive.list({ last: long, recursive: "false" }), { names: ["z"] });
    assertEquals(await drive.list({ last: "é".repeat(length), prefix: "z" }), { names: [] });
  }
  // Cut to the length of a name, this last would come before the name.
  const name = "b".repeat(1_024);
  await drive.put(name, "x");
  assertEquals(await drive.names({ last: name + "b", prefix: "b" }), []);
  assertEquals(await drive.names({ last: "b".repeat(1_023) + "aaaa", prefix: "b" }), [name]);
});

test("A prefix and a last may be as long as a name.", async (drive) => {
  const [longest, next] = ["a".repeat(1_024), "a".repeat(1_023) + "b"];
  await drive.putAll([longest, next]);
  assertEquals(await drive.list({ prefix: longest }), { names: [longest] });
  assertEquals(await drive.list({ last: longest }), { names: [next] });
});

async function walk(drive: Drive, parameters: Record<string, string | number>): Promise<string[]> {
  const names: string[] = [];
  let last = "";
  for (;;) {
    const page: Listing = await drive.list({ ...parameters, last });
    names.push(...page.names);
    if (page.paging === undefined) return names;
    assertEquals(page.paging, { size: page.names.length, last: page.names.at(-1) ?? "" });
    last = page.paging.last;
  }
}

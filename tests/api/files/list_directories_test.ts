import { assertEquals } from "@std/assert";
import type { Drive, Listing } from "../../support/drive.ts";
import { AWKWARD_NAMES, byUtf8Bytes } from "../../support/names.ts";
import { suite } from "../../support/suite.ts";

const test = suite("recursive=false lists one level of a drive");

const NAMES = [
  "a",
  "a-b",
  "a/1",
  "a/2",
  "a/deep/1",
  "a/deep/2",
  "a/deeper/1",
  "a0",
  "b/1",
  "c",
  "🦖/x",
  "🦖/y",
];

async function level(
  drive: Drive,
  parameters: Record<string, string | number> = {},
): Promise<Listing> {
  return await drive.list({ recursive: "false", ...parameters });
}

const LEVELS: { prefix?: string; names: string[] }[] = [
  { names: ["a", "a-b", "a/", "a0", "b/", "c", "🦖/"] },
  { prefix: "", names: ["a", "a-b", "a/", "a0", "b/", "c", "🦖/"] },
  { prefix: "a/", names: ["a/1", "a/2", "a/deep/", "a/deeper/"] },
  { prefix: "a/deep/", names: ["a/deep/1", "a/deep/2"] },
  // "Names up to the first `/` after the prefix", for every end of a prefix.
  { prefix: "a", names: ["a", "a-b", "a/", "a0"] },
  { prefix: "a/d", names: ["a/deep/", "a/deeper/"] },
  { prefix: "a/deep", names: ["a/deep/", "a/deeper/"] },
  { prefix: "b", names: ["b/"] },
  { prefix: "🦖/", names: ["🦖/x", "🦖/y"] },
  { prefix: "nothing/", names: [] },
];

for (const { prefix, names } of LEVELS) {
  const where = prefix === undefined ? "the top" : `"${prefix}"`;
  test(`At ${where} there are [${names}].`, async (drive) => {
    await drive.putAll(NAMES);
    assertEquals(await level(drive, prefix === undefined ? {} : { prefix }), { names });
  });
}

for (const { prefix, names } of LEVELS) {
  if (prefix === undefined) continue;
  for (const limit of [1, 2, 3]) {
    test(`A walk of "${prefix}" with limit=${limit} gives each once.`, async (drive) => {
      await drive.putAll(NAMES);
      assertEquals(await walk(drive, { prefix, limit }), names);
    });
  }
}

// "Directories count towards `limit`, sort with the files, and can be `last`."
test("A directory counts towards the limit and is the last of its page.", async (drive) => {
  await drive.putAll(NAMES);
  const first = { names: ["a", "a-b", "a/"], paging: { size: 3, last: "a/" } };
  assertEquals(await level(drive, { limit: 3 }), first);
  const second = { names: ["a0", "b/"], paging: { size: 2, last: "b/" } };
  assertEquals(await level(drive, { limit: 2, last: "a/" }), second);
  assertEquals(await level(drive, { limit: 3, last: "b/" }), { names: ["c", "🦖/"] });
});

test("There is no further page after a directory that comes last.", async (drive) => {
  await drive.putAll(["a", "z/1", "z/2", "z/3"]);
  assertEquals(await level(drive, { limit: 2 }), { names: ["a", "z/"] });
  assertEquals(await level(drive, { last: "z/" }), { names: [] });
});

test("A directory of many files is one name.", async (drive) => {
  await drive.fill(Array.from({ length: 1_100 }, (_, i) => `many/${i}`));
  await drive.putAll(["a", "z"]);
  assertEquals(await level(drive), { names: ["a", "many/", "z"] });
  const page = { names: ["a", "many/"], paging: { size: 2, last: "many/" } };
  assertEquals(await level(drive, { limit: 2 }), page);
  assertEquals((await level(drive, { prefix: "many/" })).paging?.size, 1_000);
});

test("More than 1000 directories are paged, too.", async (drive) => {
  const names = Array.from({ length: 1_001 }, (_, i) => `d${String(i).padStart(4, "0")}/`);
  await drive.fill(names.map((directory) => `${directory}file`));
  const page = { names: names.slice(0, 1_000), paging: { size: 1_000, last: "d0999/" } };
  assertEquals(await level(drive), page);
  assertEquals(await level(drive, { last: "d0999/" }), { names: ["d1000/"] });
});

// "A directory ceases to exist when no file is left in it."
test("A directory ceases to exist when no file is left in it.", async (drive) => {
  await drive.putAll(["dir/1", "dir/2", "z"]);
  await drive.delete(["dir/1"]);
  assertEquals(await level(drive), { names: ["dir/", "z"] });
  await drive.delete(["dir/2"]);
  assertEquals(await level(drive), { names: ["z"] });
});

test("Slashes in a row are directories without a name.", async (drive) => {
  await drive.putAll(["//x", "/a", "/b/c", "a//b", "a/c"]);
  assertEquals(await level(drive), { names: ["/", "a/"] });
  assertEquals(await level(drive, { prefix: "/" }), { names: ["//", "/a", "/b/"] });
  assertEquals(await level(drive, { prefix: "//" }), { names: ["//x"] });
  assertEquals(await level(drive, { prefix: "a/" }), { names: ["a//", "a/c"] });
  assertEquals(await level(drive, { prefix: "a//" }), { names: ["a//b"] });
});

test("Awkward names appear at the top as themselves or their directory.", async (drive) => {
  const names = AWKWARD_NAMES.map(({ name }) => name);
  await drive.putAll(names);
  const top = names.map((name) => name.includes("/") ? name.slice(0, name.indexOf("/") + 1) : name);
  const expected = [...new Set(top)].toSorted(byUtf8Bytes);
  assertEquals(await walk(drive, { limit: 2 }), expected);
});

test("With details=true a directory has only its name.", async (drive) => {
  await drive.putAll(["a", "dir/1", "dir/2"]);
  const { names, files } = await level(drive, { details: "true" });
  assertEquals(names, ["a", "dir/"]);
  assertEquals(files?.map(({ name }) => name), names);
  assertEquals(Object.keys(files?.[0] ?? {}).length, 6);
  assertEquals<unknown>(files?.[1], { name: "dir/" });
});

test("recursive=true is the list without it.", async (drive) => {
  await drive.putAll(NAMES);
  assertEquals(await drive.list({ recursive: "true" }), { names: NAMES });
});

test("A drive without files has no directories.", async (drive) => {
  assertEquals(await level(drive), { names: [] });
});

async function walk(drive: Drive, parameters: Record<string, string | number>): Promise<string[]> {
  const names: string[] = [];
  for (let last = "";;) {
    const page = await level(drive, { ...parameters, last });
    names.push(...page.names);
    if (page.paging === undefined) return names;
    last = page.paging.last;
  }
}

import { assertEquals } from "@std/assert";
import type { Answer } from "../../support/answer.ts";
import { type Drive, type Listing, query } from "../../support/drive.ts";
import { byUtf8Bytes } from "../../support/names.ts";
import { PROJECT_ID, PROJECT_KEY } from "../../support/server.ts";
import { suite } from "../../support/suite.ts";

const test = suite("/folders keeps empty folders");

/** Another process may know the drive for some seconds. */
const alone = suite("Folders of a drive that is removed", { twin: false });

async function folder(drive: Drive, method: "POST" | "DELETE", name: unknown): Promise<Answer> {
  return await drive.send(method, "/folders", { body: JSON.stringify({ name }) });
}

async function createAll(drive: Drive, names: readonly string[]): Promise<void> {
  for (const name of names) (await folder(drive, "POST", name)).expect(201);
}

async function level(
  drive: Drive,
  parameters: Record<string, string | number> = {},
): Promise<Listing> {
  return await drive.list({ recursive: "false", ...parameters });
}

async function walk(drive: Drive, parameters: Record<string, string | number>): Promise<string[]> {
  const names: string[] = [];
  for (let last = "";;) {
    const page = await level(drive, { ...parameters, last });
    names.push(...page.names);
    if (page.paging === undefined) return names;
    assertEquals(page.paging, { size: page.names.length, last: page.names.at(-1) });
    last = page.paging.last;
  }
}

test("An empty folder shows in its parent, and the parent above it.", async (drive) => {
  const name = "trip/2026/";
  const answer = await folder(drive, "POST", name);
  const expected = { name, project_id: PROJECT_ID, drive_name: drive.name };
  assertEquals(answer.expect(201).json, expected);
  assertEquals((await folder(drive, "POST", name)).expect(201).json, expected);
  assertEquals(await level(drive), { names: ["trip/"] });
  for (const prefix of ["trip/", "trip/2", "trip/2026"]) {
    assertEquals(await level(drive, { prefix }), { names: [name] });
  }
  assertEquals(await level(drive, { prefix: name }), { names: [] });
  assertEquals(await level(drive, { prefix: "trip/2026/x" }), { names: [] });
  const detailed = await level(drive, { details: "true" });
  assertEquals<unknown>(detailed, { names: ["trip/"], files: [{ name: "trip/" }] });
});

test("A folder is no file: it is in no other list and no count, and has no bytes.", async (drive) => {
  await createAll(drive, ["trip/2026/"]);
  assertEquals(await drive.list(), { names: [] });
  assertEquals(await drive.list({ contains: "trip" }), { names: [] });
  assertEquals(await drive.usage(), { files: 0, bytes: 0 });
  for (const name of ["trip", "trip/2026"]) (await drive.get(name)).expect(404);
  // No name of a file ends with a slash.
  (await drive.get("trip/2026/")).expect(400);
  await drive.delete(["trip/2026/", "trip/2026"]);
  assertEquals(await level(drive), { names: ["trip/"] });
});

test("A deleted folder is gone unless something is below it.", async (drive) => {
  await createAll(drive, ["a/", "a/b/", "c/"]);
  await drive.put("c/file", "");
  const gone = (await folder(drive, "DELETE", "a/")).expect(200).json;
  assertEquals(gone, { name: "a/", project_id: PROJECT_ID, drive_name: drive.name });
  assertEquals(await level(drive), { names: ["a/", "c/"] });
  (await folder(drive, "DELETE", "a/b/")).expect(200);
  (await folder(drive, "DELETE", "c/")).expect(200);
  assertEquals(await level(drive), { names: ["c/"] });
  assertEquals(await drive.names(), ["c/file"]);
  (await folder(drive, "DELETE", "never/")).expect(200);
  (await folder(drive.another("unknown"), "DELETE", "a/")).expect(200);
  assertEquals(await drive.another("unknown").usage(), undefined);
});

test("A folder stays when the last file in it is deleted; others cease to exist.", async (drive) => {
  await createAll(drive, ["kept/"]);
  await drive.putAll(["kept/1", "other/1"]);
  assertEquals(await level(drive), { names: ["kept/", "other/"] });
  await drive.delete(["kept/1", "other/1"]);
  assertEquals(await level(drive), { names: ["kept/"] });
});

const FILES = ["a", "a-b", "a/1", "a/deep/1", "a0", "b/c/d", "c", "🦖/x"];
const FOLDERS = ["!/", "a/", "a/deep/", "a/empty/", "a/z/y/", "bb/", "d/e/f/", "\ufffd/", "🦖/y/"];

const LEVELS: { prefix: string; names: string[] }[] = [
  { prefix: "", names: ["!/", "a", "a-b", "a/", "a0", "b/", "bb/", "c", "d/", "\ufffd/", "🦖/"] },
  { prefix: "a", names: ["a", "a-b", "a/", "a0"] },
  { prefix: "a/", names: ["a/1", "a/deep/", "a/empty/", "a/z/"] },
  { prefix: "a/deep/", names: ["a/deep/1"] },
  { prefix: "a/empty/", names: [] },
  { prefix: "d/", names: ["d/e/"] },
  { prefix: "🦖/", names: ["🦖/x", "🦖/y/"] },
];

for (const { prefix, names } of LEVELS) {
  for (const limit of [1, 2, 3, 1_000]) {
    test(`A walk of files and folders of "${prefix}" with limit=${limit} gives each once.`, async (drive) => {
      await drive.putAll(FILES);
      await createAll(drive, FOLDERS);
      assertEquals(await walk(drive, { prefix, limit }), names);
    });
  }
}

test("More than 1000 folders are paged with the files between them.", async (drive) => {
  const numbers = Array.from({ length: 1_100 }, (_, i) => String(i).padStart(4, "0"));
  for (let i = 0; i < numbers.length; i += 100) {
    const some = numbers.slice(i, i + 100);
    await Promise.all(some.map((number) => createAll(drive, [`d${number}/`])));
  }
  const files = numbers.filter((_, i) => i % 3 === 0).map((number) => `d${number}/file`);
  await drive.putAll([...files, "d0500", "d0500-"]);
  const expected = [...numbers.map((number) => `d${number}/`), "d0500", "d0500-"];
  assertEquals(await walk(drive, {}), expected.toSorted(byUtf8Bytes));
});

interface FolderPage {
  folders: string[];
  paging?: { size: number; last: string };
}

async function kept(
  drive: Drive,
  parameters: Record<string, string | number> = {},
): Promise<FolderPage> {
  const answer = await drive.send("GET", `/folders${query(parameters)}`);
  return answer.expect(200).json as FolderPage;
}

test("The list of folders has those that are kept, and no others.", async (drive) => {
  assertEquals(await kept(drive), { folders: [] });
  await drive.putAll(["a/file", "b/c/file", "file"]);
  await createAll(drive, ["b/", "\uffee/", "\u{1f600}/", "b/c/d/", "a-/", "b-/"]);
  const folders = ["a-/", "b-/", "b/", "b/c/d/", "\uffee/", "\u{1f600}/"];
  assertEquals(await kept(drive), { folders });
  assertEquals(await kept(drive, { prefix: "b/" }), { folders: ["b/", "b/c/d/"] });
  assertEquals(await kept(drive, { prefix: "b" }), { folders: ["b-/", "b/", "b/c/d/"] });
  assertEquals(await kept(drive, { prefix: "file" }), { folders: [] });
  assertEquals(await kept(drive, { prefix: "\0" }), { folders: [] });
  await folder(drive, "DELETE", "b/");
  assertEquals(await kept(drive, { prefix: "b", last: "b-/" }), { folders: ["b/c/d/"] });
  assertEquals(await kept(drive, { last: "\u{1f600}/" }), { folders: [] });
  for (const bad of ["limit=0", "limit=x", "last=a&last=b", "prefix=a&prefix=b"]) {
    (await drive.send("GET", `/folders?${bad}`)).expect(400);
  }
});

test("Pages lead through all folders once.", async (drive) => {
  const all = Array.from({ length: 1_003 }, (_, i) => `${String(i).padStart(4, "0")}/`);
  for (let i = 0; i < all.length; i += 100) {
    await Promise.all(all.slice(i, i + 100).map((name) => createAll(drive, [name])));
  }
  for (const limit of [250, 1_003, 5_000]) {
    const size = Math.min(limit, 1_000);
    const walked: string[] = [];
    for (let last = "";;) {
      const { folders, paging } = await kept(drive, { limit, last });
      walked.push(...folders);
      if (paging === undefined) break;
      assertEquals(paging, { size, last: folders.at(-1) });
      last = paging.last;
    }
    assertEquals(walked, all);
  }
  assertEquals((await kept(drive, { limit: 3, last: "0999/" })).paging, undefined);
});

test("A folder creates its drive.", async (drive) => {
  assertEquals(await drive.usage(), undefined);
  await createAll(drive, ["a/"]);
  assertEquals(await drive.usage(), { files: 0, bytes: 0 });
});

alone("A removed drive takes its folders along.", async (drive) => {
  await createAll(drive, ["a/"]);
  const path = `/admin/v1/projects/${PROJECT_ID}/drives/${drive.name}`;
  const headers = { "X-Api-Key": PROJECT_KEY };
  const answer = await fetch(drive.server.origin + path, { method: "DELETE", headers });
  assertEquals(answer.status, 202, await answer.text());
  assertEquals(await level(drive), { names: [] });
  assertEquals(await kept(drive), { folders: [] });
  // Until the removal has ended, writes to the drive are 409.
  while ((await folder(drive, "POST", "b/")).status === 409);
  assertEquals(await level(drive), { names: ["b/"] });
});

const LONGEST = `${"é".repeat(511)}x/`;

test("A folder's name has at most 1024 bytes with its slash.", async (drive) => {
  await createAll(drive, [LONGEST, " a/", "a//", "//", "../", "a\n/"]);
  assertEquals((await walk(drive, {})).length, 6);
  assertEquals(await level(drive, { prefix: "a/" }), { names: ["a//"] });
  assertEquals(await level(drive, { prefix: "/" }), { names: ["//"] });
  (await folder(drive, "POST", `x${LONGEST}`)).expect(400);
});

const BAD_NAMES: unknown[] = ["a", "", "/", " /", "\t\n/", "a\0/", "a/b", "\ud800/", 5, null, [
  "a/",
]];

for (const name of BAD_NAMES) {
  test(`The folder name ${JSON.stringify(name)} is refused.`, async (drive) => {
    for (const method of ["POST", "DELETE"] as const) {
      (await folder(drive, method, name)).expect(400);
    }
    assertEquals(await drive.usage(), undefined);
  });
}

for (const body of ["", "{", "[]", '{"names": ["a/"]}', '{"name": "a/", "more": 1}']) {
  test(`The body '${body}' is refused.`, async (drive) => {
    for (const method of ["POST", "DELETE"]) {
      (await drive.send(method, "/folders", { body })).expect(400);
    }
  });
}

test("Folders need the project's key.", async (drive) => {
  const body = JSON.stringify({ name: "a/" });
  for (const method of ["POST", "DELETE"]) {
    (await drive.send(method, "/folders", { body, key: null })).expect(401);
  }
  (await drive.send("GET", "/folders", { key: null })).expect(401);
});

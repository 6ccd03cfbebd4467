import { assert, assertEquals, assertRejects } from "@std/assert";
import { Answer } from "../../support/answer.ts";
import { assertSameBytes, MIB, patternBytes, PIECE, utf8 } from "../../support/bytes.ts";
import { type Drive, uploadParts } from "../../support/drive.ts";
import { AWKWARD_NAMES } from "../../support/names.ts";
import { addCases, type Case, suite } from "../../support/suite.ts";
import { assertSafePath, readZip, type ZipEntry } from "../../support/archive/zip_reader.ts";

const test = suite("POST /archive sends files as a zip archive");

interface Selection {
  names?: unknown;
  prefixes?: unknown;
}

async function ask(drive: Drive, selection: Selection): Promise<Answer> {
  return await drive.send("POST", "/archive", { body: JSON.stringify(selection) });
}

async function entriesOf(drive: Drive, selection: Selection): Promise<ZipEntry[]> {
  return readZip((await ask(drive, selection)).expect(200).bytes);
}

async function pathsOf(drive: Drive, selection: Selection): Promise<string[]> {
  return (await entriesOf(drive, selection)).map(({ path }) => path);
}

test("An archive has the bytes of every file, of any size.", async (drive) => {
  const files = new Map<string, Uint8Array<ArrayBuffer>>();
  for (const size of [0, 1, 4096, PIECE - 1, PIECE, PIECE + 1, 3 * MIB, 2 * PIECE]) {
    files.set(`sizes/${size}`, patternBytes(size, size + 1));
  }
  for (const [name, bytes] of files) await drive.put(name, bytes);
  const parts = [patternBytes(5_000_000, 2), patternBytes(5_000_001, 3), patternBytes(100, 4)];
  await uploadParts(drive, "parts", parts);
  files.set("parts", new Uint8Array(await new Blob(parts).arrayBuffer()));
  const entries = await entriesOf(drive, { prefixes: [""] });
  assertEquals(entries.map(({ path }) => path), await drive.names());
  for (const { path, bytes } of entries) {
    const expected = files.get(path);
    assert(expected !== undefined, path);
    assertSameBytes(bytes, expected, path);
  }
});

test("An archive carries every header of the contract, and its size.", async (drive) => {
  await drive.put("a", "x");
  const answer = (await ask(drive, { names: ["a"] })).expect(200);
  assertEquals(answer.header("Content-Type"), "application/zip");
  assertEquals(
    answer.header("Content-Disposition"),
    `attachment; filename="${drive.name}.zip"; filename*=UTF-8''${drive.name}.zip`,
  );
  assertEquals(answer.header("X-Content-Type-Options"), "nosniff");
  assertEquals(answer.header("Content-Length"), String(answer.bytes.length));
});

test("An entry has the time of its file, and is a regular file that everyone may read.", async (drive) => {
  const before = Math.floor(Date.now() / 1000);
  await drive.put("a", "x");
  const [entry] = await entriesOf(drive, { names: ["a"] });
  assert(entry !== undefined && entry.modified >= before && entry.modified <= before + 60);
  assertEquals(entry.mode, 0o100644);
});

test("Names come in the order of the request, and prefixes after them.", async (drive) => {
  await drive.putAll(["a", "b", "c/1", "c/2", "c2", "d"]);
  assertEquals(await pathsOf(drive, { names: ["d", "a"], prefixes: ["c"] }), [
    "d",
    "a",
    "c/1",
    "c/2",
    "c2",
  ]);
});

test("A file that is asked for several times is there once.", async (drive) => {
  await drive.putAll(["a", "c/1", "c/2"]);
  const selection = { names: ["a", "c/2", "a"], prefixes: ["c/", "c", "c/2", "c"] };
  assertEquals(await pathsOf(drive, selection), ["a", "c/1", "c/2"]);
});

test("A missing name is 404, also below a prefix, and nothing is sent.", async (drive) => {
  await drive.putAll(["a", "c/1"]);
  (await ask(drive, { names: ["a", "no"] })).expect(404);
  (await ask(drive, { names: ["c/2"], prefixes: ["c/"] })).expect(404);
  assertEquals((await ask(drive, { names: ["a", "no"] })).errors, [
    'There is no file "no" in this drive',
  ]);
});

test("A prefix without files makes an empty archive.", async (drive) => {
  assertEquals(await pathsOf(drive, { prefixes: ["none/"] }), []);
  assertEquals(await pathsOf(drive, { prefixes: ["\0", "x".repeat(2000)] }), []);
  assertEquals(await drive.usage(), undefined);
});

test("Every path is safe to extract, and no two are the same for any file system.", async (drive) => {
  const names = [
    ...AWKWARD_NAMES.map(({ name }) => name),
    ...["C:/x", "c:x", "CON", "aux.txt", "end.", "end ", "end", "a/b/../../../x", "./y", "x/CON/y"],
  ];
  for (const name of names) await drive.put(name, name);
  const entries = await entriesOf(drive, { prefixes: [""] });
  assertEquals(entries.length, new Set(names).size);
  const texts = new Set(
    entries.map(({ bytes }) => new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes)),
  );
  assertEquals(texts, new Set(names));
  const seen = new Set<string>();
  for (const { path } of entries) {
    assertSafePath(path);
    const same = path.normalize("NFC").toLowerCase();
    assert(!seen.has(same), path);
    seen.add(same);
  }
});

test("A file and a folder of the same name have different paths.", async (drive) => {
  await drive.putAll(["a", "a/b", "A/c"]);
  const paths = await pathsOf(drive, { prefixes: [""] });
  const files = new Set(paths.map((path) => path.toLowerCase()));
  for (const path of paths) {
    assert(!files.has(path.split("/").slice(0, -1).join("/").toLowerCase()));
  }
  assertEquals(files.size, 3);
});

test("More than a thousand files are streamed without an announced size.", async (drive) => {
  const names = Array.from({ length: 1_001 }, (_, i) => `n/${String(i).padStart(4, "0")}`);
  await drive.putAll(names);
  const answer = (await ask(drive, { prefixes: ["n/"] })).expect(200);
  assertEquals(answer.headers.get("Content-Length"), null);
  const entries = readZip(answer.bytes);
  assertEquals(entries.map(({ path }) => path), names);
  for (const { path, bytes } of entries) assertEquals(bytes, utf8(path));
});

test("A thousand of the longest names may all be written as escapes.", async (drive) => {
  const name = "A".repeat(1_020);
  const names = Array.from({ length: 1_000 }, (_, i) => `${String(i).padStart(4, "0")}${name}`);
  await drive.putAll(names.slice(0, 2));
  const body = JSON.stringify({ names, prefixes: names }).replaceAll("A", "\\u0041");
  (await drive.send("POST", "/archive", { body })).expect(404);
});

test("A file that is overwritten or deleted while it waits breaks no byte.", async (drive) => {
  const large = patternBytes(10 * MIB, 1);
  for (const name of ["1", "2", "3"]) await drive.put(name, large);
  const sent = await drive.server.fetch(drive.name, "/archive", {
    ...drive.owner,
    method: "POST",
    body: utf8(JSON.stringify({ prefixes: [""] })),
  });
  await drive.put("2", "another");
  await drive.delete(["3"]);
  const entries = readZip(await sent.bytes());
  assertEquals(entries.map(({ bytes }) => bytes.length), Array(3).fill(large.length));
});

test("A small file that changes while it waits ends the archive before its end.", async (drive) => {
  const large = patternBytes(3 * MIB, 1);
  const names = Array.from({ length: 12 }, (_, i) => `${i}`);
  for (const name of names) await drive.put(name, large);
  await drive.put("last", "small");
  const sent = await drive.server.fetch(drive.name, "/archive", {
    ...drive.owner,
    method: "POST",
    body: utf8(JSON.stringify({ names: [...names, "last"] })),
  });
  await drive.put("last", "other");
  await assertRejects(() => sent.bytes());
});

test("A client that leaves does not keep the files from others.", async (drive) => {
  for (const name of ["1", "2", "3", "4"]) await drive.put(name, patternBytes(10 * MIB, 1));
  for (let i = 0; i < 20; i++) {
    const controller = new AbortController();
    const sent = await drive.server.fetch(drive.name, "/archive", {
      ...drive.owner,
      method: "POST",
      body: utf8(JSON.stringify({ prefixes: [""] })),
      signal: controller.signal,
    });
    controller.abort();
    await assertRejects(() => sent.bytes());
  }
  assertEquals((await entriesOf(drive, { prefixes: [""] })).length, 4);
});

const MANY = Array.from({ length: 1_001 }, () => "a");

const REFUSED: (Omit<Case, "method" | "status" | "path" | "body"> & { body?: unknown })[] = [
  { name: "An empty body is refused.", contains: ["names", "prefixes"] },
  { name: "An empty object is refused.", body: {} },
  { name: "Empty lists are refused.", body: { names: [], prefixes: [] } },
  { name: "1001 names are refused.", body: { names: MANY }, contains: ["1000"] },
  { name: "1001 prefixes are refused.", body: { prefixes: MANY }, contains: ["1000"] },
  { name: "A name instead of a list is refused.", body: { names: "a" } },
  { name: "null instead of names is refused.", body: { names: null, prefixes: ["a"] } },
  { name: "A number among the names is refused.", body: { names: ["a", 1] } },
  { name: "A number among the prefixes is refused.", body: { prefixes: [1] } },
  { name: "An empty name is refused.", body: { names: [""] }, contains: ["file name"] },
  { name: "A name that ends with a slash is refused.", body: { names: ["a/"] } },
  { name: "A list as the body is refused.", body: ["a"] },
  { name: "A text as the body is refused.", body: "a" },
  { name: "null as the body is refused.", body: null },
];

addCases(
  test,
  REFUSED.map(({ body, ...one }) => ({
    path: "/archive",
    ...one,
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    method: "POST",
    status: 400,
  })),
  (drive) => drive.put("a", "x"),
);

addCases(test, [
  {
    name: "A body that is not JSON is refused.",
    method: "POST",
    path: "/archive",
    status: 400,
    body: "{",
  },
  { name: "GET is not offered.", method: "GET", path: "/archive", status: 405 },
  { name: "An archive needs a key.", method: "POST", path: "/archive", status: 401, key: null },
]);

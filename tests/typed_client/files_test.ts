import { assert, assertEquals, assertRejects } from "@std/assert";
import { assertSameBytes, MIB, patternBytes, streamOf, utf8 } from "../support/bytes.ts";
import { AWKWARD_NAMES } from "../support/names.ts";
import { all, clientSuite, namesIn, refused } from "../support/typed_client/client.ts";

const LARGE = patternBytes(10 * MIB + 5, 3);

const step = clientSuite("The client stores, fetches, lists and relocates files");

step("Everything that has bytes can be stored", async (drive, project) => {
  const bytes = patternBytes(70_000);
  async function* pieces() {
    yield bytes.subarray(0, 5);
    yield bytes.subarray(5);
  }
  async function* texts() {
    yield "grü";
    yield "ße";
  }
  const contents = { bytes, buffer: bytes.buffer, blob: new Blob([bytes]), pieces: pieces() };
  for (const [name, content] of Object.entries({ ...contents, stream: streamOf(bytes) })) {
    assertEquals(await drive.put(name, content), {
      name,
      project_id: project.id,
      drive_name: drive.name,
    });
    const file = await drive.get(name);
    assertSameBytes(await file?.bytes() ?? new Uint8Array(), bytes, name);
  }
  await drive.put("text", "grüße");
  await drive.put("texts", texts());
  await drive.put("view", new Uint16Array([1, 2]).subarray(1));
  await drive.put("empty", "");
  assertEquals(await (await drive.get("texts"))?.text(), "grüße");
  assertEquals(await (await drive.get("view"))?.bytes(), new Uint8Array([2, 0]));
  assertEquals((await drive.get("empty"))?.size, 0);
  assertEquals(await (await drive.get("empty"))?.text(), "");
});

step("A file tells its size, type, version and times", async (drive) => {
  const mtime = new Date("2021-04-22T11:50:08.123Z");
  const stored = await drive.put("a.bin", new Blob(["Hello"], { type: "text/x-own" }), { mtime });
  assertEquals(stored.expires, undefined);
  const file = await drive.get("a.bin");
  assertEquals([file?.size, file?.contentType, file?.mtime], [5, "text/x-own", mtime]);
  assertEquals(file?.range, { start: 0, end: 5 });
  assertEquals(await file?.json().catch((error: Error) => error.name), "SyntaxError");
  const { size, etag, modified } = await drive.head("a.bin") ?? {};
  assertEquals([size, etag, modified], [file?.size, file?.etag, file?.modified]);
  const details = await drive.details("a.bin");
  assertEquals([details?.etag, details?.mtime], [etag, mtime.toISOString()]);
  const expiring = await drive.put("b", "x", { contentType: "image/png", expiresIn: 60 });
  assert(Date.parse(expiring.expires ?? "") > Date.now());
  assertEquals((await drive.change("b", { expiresIn: null })).expires, undefined);
  assertEquals((await drive.get("b"))?.contentType, "image/png");
});

step("What is not there is undefined", async (drive) => {
  assertEquals(await drive.get("missing"), undefined);
  assertEquals(await drive.head("missing"), undefined);
  assertEquals(await drive.details("missing"), undefined);
  await drive.put("missing.txt", "x");
  assertEquals(await drive.details("missing"), undefined);
  assertEquals(await drive.uploads.get("0".repeat(26), "missing"), undefined);
  assertEquals(await drive.links.delete("01J9Z3NDEKTSV4RRFFQ69G5FAV"), false);
});

step("Ranges end before their end, and conditions are errors", async (drive) => {
  await drive.put("a", "0123456789");
  const part = async (range: { start: number; end?: number }) => {
    const file = await drive.get("a", { range });
    return [file?.size, await file?.text()];
  };
  assertEquals(await part({ start: 2, end: 5 }), [10, "234"]);
  assertEquals(await part({ start: 7 }), [10, "789"]);
  assertEquals(await part({ start: 7, end: 99 }), [10, "789"]);
  assertEquals(await refused(() => drive.get("a", { range: { start: 10 } })), [
    416,
    "range_not_satisfiable",
  ]);
  for (const range of [{ start: -1 }, { start: 2, end: 2 }, { start: 0.5 }, { start: NaN }]) {
    assertEquals(await refused(() => drive.get("a", { range })), [0, "invalid_argument"]);
  }
  const { etag = "" } = await drive.head("a") ?? {};
  for (const ifNoneMatch of [etag, `"${etag}"`]) {
    assertEquals(await refused(() => drive.get("a", { ifNoneMatch })), [304, "not_modified"]);
    assertEquals(await refused(() => drive.head("a", { ifNoneMatch })), [304, "not_modified"]);
  }
  assertEquals((await drive.get("a", { ifNoneMatch: "other" }))?.size, 10);
  const failed: [number, string] = [412, "precondition_failed"];
  for (const content of ["new", LARGE]) {
    assertEquals(await refused(() => drive.put("a", content, { ifNoneMatch: "*" })), failed);
    assertEquals(await refused(() => drive.put("a", content, { ifMatch: "other" })), failed);
    assertEquals(await refused(() => drive.put("new", content, { ifMatch: etag })), failed);
  }
  assertEquals(await all(drive.uploads.list()), []);
  await drive.put("a", "new", { ifMatch: etag });
  await drive.put("b", "new", { ifNoneMatch: "*" });
  assertEquals(await namesIn(drive), ["a", "b"]);
  assertEquals(await refused(() => drive.get("a", { ifMatch: etag })), failed);
});

step("Names are kept as they are", async (drive) => {
  const names = [...AWKWARD_NAMES.map(({ name }) => name), ".", "..", "a/../b", "%2e", "?a=b#c"];
  for (const name of new Set(names)) {
    await drive.put(name, name);
    assertEquals(await (await drive.get(name))?.bytes(), utf8(name));
    assertEquals((await drive.details(name))?.name, name);
    await drive.copy(name, "copy", { overwrite: true });
    assertEquals(await drive.delete(name), { deleted: [name], failed: [] });
  }
  assertEquals(await namesIn(drive), ["copy"]);
  assertEquals(await refused(() => drive.put("\ud800", "x")), [0, "invalid_argument"]);
  assertEquals((await refused(() => drive.put("", "x")))[0], 400);
});

step("A drive may have any name but . and .., which have no URL", async (_, project) => {
  for (const name of ["a b", "%2f", "ü?#", "...", "+"]) {
    await project.drive(name).put("a", name);
    assertEquals(await (await project.drive(name).get("a"))?.text(), name);
  }
  for (const name of [".", "..", ""]) {
    const drive = project.drive(name);
    assertEquals(await refused(() => drive.put("a", "x")), [0, "invalid_argument"]);
    assertEquals(await refused(() => project.deleteDrive(name)), [0, "invalid_argument"]);
  }
});

step("Lists have all pages, and folders", async (drive) => {
  const names = Array.from({ length: 1203 }, (_, i) => `many/${String(i).padStart(4, "0")}`);
  await drive.put("base", "x");
  for (let start = 0; start < names.length; start += 200) {
    const items = names.slice(start, start + 200).map((to) => ({ from: "base", to }));
    assertEquals((await drive.copyMany(items)).failed, []);
  }
  assertEquals(await namesIn(drive), ["base", ...names]);
  const listed = await all(drive.list({ prefix: "many/1" }));
  assertEquals(listed.map(({ name, size }) => [name, size]).at(0), ["many/1000", 1]);
  assertEquals(listed.length, 203);
  assertEquals(
    await all(drive.list({ recursive: false })).then((l) => l.map(({ name }) => name)),
    [
      "base",
      "many/",
    ],
  );
  assertEquals((await all(drive.list({ contains: "Y/120" }))).length, 3);
  assertEquals((await all(drive.list({ last: "many/1200" }))).length, 2);
  const { deleted, failed } = await drive.delete(...names, "missing");
  assertEquals([deleted.length, failed], [names.length + 1, []]);
  assertEquals(await namesIn(drive), ["base"]);
  assertEquals(await drive.delete(), { deleted: [], failed: [] });
});

step("Files are copied and moved, also to other drives", async (drive) => {
  await drive.put("a", "one");
  await drive.put("b", "two");
  assertEquals((await drive.copy("a", "c")).name, "c");
  assertEquals(await refused(() => drive.copy("a", "b")), [409, "file_exists"]);
  assertEquals(await refused(() => drive.move("none", "x")), [404, "file_not_found"]);
  assertEquals(await refused(() => drive.move("a", "x", { ifMatch: "other" })), [
    412,
    "precondition_failed",
  ]);
  const moved = await drive.move("a", "b", { toDrive: "elsewhere", overwrite: true });
  assertEquals([moved.name, moved.drive_name], ["b", "elsewhere"]);
  const result = await drive.moveMany([{ from: "b", to: "d" }, { from: "none", to: "e" }]);
  assertEquals([result.done, result.failed.map(({ code }) => code)], [["b"], ["file_not_found"]]);
  assertEquals(await namesIn(drive), ["c", "d"]);
});
step("A body that is not read to its end leaves nothing behind", async (drive) => {
  await drive.put("large", LARGE);
  const file = await drive.get("large");
  await file?.body.cancel();
  const controller = new AbortController();
  const aborted = await drive.get("large", { signal: controller.signal });
  const reader = aborted?.body.getReader();
  await reader?.read();
  controller.abort();
  await assertRejects(async () => {
    for (;;) if ((await reader?.read())?.done) return;
  }, DOMException);
});

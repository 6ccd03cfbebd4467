import { assertEquals, assertRejects } from "@std/assert";
import { someContext } from "../../http/test_support.ts";
import { keys, prefixes } from "../../store/engine/keys.ts";
import { bytesVersion, CHUNK_SIZE } from "../../store/engine/records.ts";
import { bytes, DRIVE } from "../../store/testing/bodies.ts";
import { countEntries, deleteEntry } from "../../store/testing/entries.ts";
import { put, recordOf } from "../../store/testing/files.ts";
import { otherProcess, sweepLater, testOnAll, type TestStore } from "../../store/testing/stores.ts";
import { MAX_WHOLE_FILE } from "../../store/files/whole_files.ts";
import { MAX_FIXED_FILES } from "./archive_plan.ts";
import { archiveResponse } from "./archive_response.ts";

/** An archive of the drive, and the errors that are reported while it is sent. */
async function archive(
  { store }: TestStore,
  selection: { names?: string[]; prefixes?: string[]; base?: string },
  method = "POST",
): Promise<{ response: Response; errors: string[] }> {
  const errors: string[] = [];
  const onError = (error: unknown) => errors.push(String(error));
  const request = { method, requestId: "r", context: someContext(), filename: "d.zip" };
  const all = { ...DRIVE, names: [], prefixes: [], ...selection };
  const response = await archiveResponse(all, request, { store, idleTimeout: 60_000, onError });
  return { response, errors };
}

/** What an archive holds while it is sent. */
function memoryOf({ store }: TestStore): number {
  return store.memory.downloads.used;
}

testOnAll("A chunk that is missing ends the archive before its end", async (bench) => {
  const own = otherProcess(bench, () => {});
  await put(bench, "a", bytes(40 * CHUNK_SIZE));
  const version = bytesVersion(await recordOf(bench, "a"));
  await deleteEntry(bench.db, keys.chunk(version, 39));
  const { response, errors } = await archive(own, { names: ["a"] });
  await assertRejects(() => response.bytes());
  assertEquals(errors.length, 1);
  assertEquals(memoryOf(own), 0);
});

testOnAll(
  "Missing checksums of the first file are an error before the first byte",
  async (bench) => {
    const own = otherProcess(bench, () => {});
    await put(bench, "a", bytes(2 * CHUNK_SIZE));
    const version = bytesVersion(await recordOf(bench, "a"));
    await deleteEntry(bench.db, keys.checksums(version, 0));
    await assertRejects(() => archive(own, { names: ["a"] }));
    assertEquals(memoryOf(own), 0);
  },
);

testOnAll("An archive keeps the versions that it announced, and releases them", async (bench) => {
  await put(bench, "a", bytes(40 * CHUNK_SIZE, 1));
  await put(bench, "b", bytes(2 * CHUNK_SIZE, 1));
  const version = bytesVersion(await recordOf(bench, "b"));
  const hasBytes = async () => await countEntries(bench, prefixes.all("chunk", version)) > 0;
  const { response } = await archive(bench, { prefixes: [""] });
  await put(bench, "b", bytes(2 * CHUNK_SIZE, 2));
  await sweepLater(bench);
  assertEquals(await hasBytes(), true);
  assertEquals((await response.bytes()).byteLength, Number(response.headers.get("Content-Length")));
  await sweepLater(bench);
  assertEquals(await hasBytes(), false);
  assertEquals(memoryOf(bench), 0);
});

testOnAll("An archive that is not read to its end releases everything", async (bench) => {
  await put(bench, "a", bytes(40 * CHUNK_SIZE));
  const { response } = await archive(bench, { prefixes: [""] });
  const version = bytesVersion(await recordOf(bench, "a"));
  await bench.store.files.delete({ ...DRIVE, name: "a" });
  await response.body?.cancel();
  // What was being read is released when it has been read.
  for (let turns = 0; turns < 100 && memoryOf(bench) > 0; turns++) {
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  assertEquals(memoryOf(bench), 0);
  await sweepLater(bench);
  assertEquals(await countEntries(bench, prefixes.all("chunk", version)), 0);
});

testOnAll("A large archive leaves out what was deleted before it was sent", async (bench) => {
  await put(bench, "a", bytes(40 * CHUNK_SIZE));
  for (let i = 0; i < MAX_FIXED_FILES; i++) await put(bench, `b${i}`, bytes(1));
  const { response, errors } = await archive(bench, { prefixes: [""] });
  assertEquals(response.headers.has("Content-Length"), false);
  await bench.store.files.delete({ ...DRIVE, name: "b999" });
  const text = new TextDecoder("latin1").decode(await response.bytes());
  assertEquals([text.includes("b998"), text.includes("b999")], [true, false]);
  assertEquals([errors, memoryOf(bench)], [[], 0]);
});

testOnAll(
  "A large archive breaks without a named file that was deleted before it was sent",
  async (bench) => {
    const names = Array.from({ length: 9 }, (_, i) => `a${i}`);
    for (const name of names) await put(bench, name, bytes(MAX_WHOLE_FILE + 1));
    await put(bench, "last", bytes(1));
    for (let i = 0; i < MAX_FIXED_FILES; i++) await put(bench, `b${i}`, bytes(1));
    const { response, errors } = await archive(bench, {
      names: [...names, "last"],
      prefixes: ["b"],
    });
    await bench.store.files.delete({ ...DRIVE, name: "last" });
    await assertRejects(() => response.bytes());
    assertEquals(errors, ['FileChanged: The file "last" was changed before it was sent']);
    assertEquals(memoryOf(bench), 0);
  },
);

testOnAll("HEAD has the headers and holds nothing", async (bench) => {
  await put(bench, "a", bytes(10));
  const { response } = await archive(bench, { names: ["a"] }, "HEAD");
  assertEquals(response.body, null);
  assertEquals(response.headers.get("Content-Length"), String(30 + 46 + 22 + 2 * (1 + 9) + 10));
  assertEquals(memoryOf(bench), 0);
});

testOnAll("The base is cut off the names", async (bench) => {
  await put(bench, "trip/2026/a", bytes(1));
  const { response } = await archive(bench, { prefixes: ["trip/2026/"], base: "trip/2026/" });
  const text = new TextDecoder("latin1").decode(await response.bytes());
  assertEquals([text.includes("trip"), text.slice(30, 31)], [false, "a"]);
});

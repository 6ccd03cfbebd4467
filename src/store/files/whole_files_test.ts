import { assertEquals } from "@std/assert";
import { crc32 } from "node:zlib";
import { keys } from "../engine/keys.ts";
import { bytesVersion, CHUNK_SIZE } from "../engine/records.ts";
import { bytes, place } from "../testing/bodies.ts";
import { deleteEntry, setEntry } from "../testing/entries.ts";
import { put, recordOf, upload } from "../testing/files.ts";
import { testOnAll, type TestStore } from "../testing/stores.ts";
import { isWhole, MAX_WHOLE_FILE } from "./whole_files.ts";

async function readWhole(bench: TestStore, name: string): Promise<Uint8Array | undefined> {
  const whole = await bench.store.files.reader.readWhole(await recordOf(bench, name));
  if (whole === undefined) return undefined;
  const joined = await new Blob([...whole.pieces]).bytes();
  assertEquals(whole.crc, crc32(joined));
  return joined;
}

testOnAll("Files of any small size are read whole, also at the same time", async (bench) => {
  const sizes = [0, 1, 4096, CHUNK_SIZE, CHUNK_SIZE + 1, 5 * CHUNK_SIZE, MAX_WHOLE_FILE];
  for (const size of sizes) await put(bench, `${size}`, bytes(size));
  const read = await Promise.all(sizes.map((size) => readWhole(bench, `${size}`)));
  assertEquals(read, sizes.map((size) => bytes(size)));
});

testOnAll("Large files and files of parts are not read whole", async (bench) => {
  await put(bench, "a", bytes(MAX_WHOLE_FILE + 1));
  assertEquals(isWhole(await recordOf(bench, "a")), false);
  const id = await upload(bench, place("b"), [5_000_000, 100]);
  await bench.store.uploads.complete(place("b"), id, () => true);
  assertEquals(isWhole(await recordOf(bench, "b")), false);
});

testOnAll(
  "A file is not read whole without one of its bytes, or with a wrong one",
  async (bench) => {
    await put(bench, "a", bytes(2 * CHUNK_SIZE));
    const version = bytesVersion(await recordOf(bench, "a"));
    const chunk = bytes(CHUNK_SIZE, 7);
    await setEntry(bench.db, keys.chunk(version, 1), chunk);
    assertEquals(await readWhole(bench, "a"), undefined);
    await deleteEntry(bench.db, keys.chunk(version, 1));
    assertEquals(await readWhole(bench, "a"), undefined);
    await put(bench, "b", bytes(2 * CHUNK_SIZE));
    const checksums = keys.checksums(bytesVersion(await recordOf(bench, "b")), 0);
    await deleteEntry(bench.db, checksums);
    assertEquals(await readWhole(bench, "b"), undefined);
    await put(bench, "c", bytes(10));
    const content = keys.content(bytesVersion(await recordOf(bench, "c")));
    await setEntry(bench.db, content, bytes(10, 7));
    assertEquals(await readWhole(bench, "c"), undefined);
    await deleteEntry(bench.db, content);
    assertEquals(await readWhole(bench, "c"), undefined);
  },
);

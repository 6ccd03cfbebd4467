import { assertEquals, assertRejects } from "@std/assert";
import { crc32 } from "node:zlib";
import { StoreDamaged } from "../engine/errors.ts";
import { keys } from "../engine/keys.ts";
import { bytesVersion, CHUNK_SIZE } from "../engine/records.ts";
import { bytes, place } from "../testing/bodies.ts";
import { deleteEntry } from "../testing/entries.ts";
import { put, recordOf } from "../testing/files.ts";
import { ChecksumReader } from "./checksums.ts";
import { crcOfChunks } from "./crc32.ts";
import { testOnAll, type TestStore } from "../testing/stores.ts";

async function crcOf({ store }: TestStore, name: string): Promise<number | undefined> {
  using file = await store.files.reader.open(place(name));
  return await file?.crc32();
}

testOnAll("The CRC-32 of a file is that of its bytes", async (bench) => {
  for (const size of [0, 1, 100, CHUNK_SIZE, CHUNK_SIZE + 1, 5 * CHUNK_SIZE, 700_001]) {
    await put(bench, "a", bytes(size));
    assertEquals(await crcOf(bench, "a"), crc32(bytes(size)), `${size}`);
  }
});

testOnAll("A file without its checksums has no CRC-32", async (bench) => {
  await put(bench, "a", bytes(2 * CHUNK_SIZE));
  const record = await recordOf(bench, "a");
  await deleteEntry(bench.db, keys.checksums(bytesVersion(record), 0));
  const { reader, bytes: entries } = bench.db;
  const checksums = new ChecksumReader(
    entries.reads,
    place("a"),
    bytesVersion(record),
    record.size,
  );
  const crc = () => crcOfChunks({ reader, bytes: entries, checksums }, place("a"), record);
  await assertRejects(crc, StoreDamaged, "checksums");
});

import { assert, assertEquals } from "@std/assert";
import type { ByteRange } from "../../rules/byte_range.ts";
import { CHUNK_SIZE } from "../engine/records.ts";
import { bytes, place } from "../testing/bodies.ts";
import { put } from "../testing/files.ts";
import { testOnAll, type TestStore } from "../testing/stores.ts";

const SIZE = 5 * CHUNK_SIZE + 7;
const WHOLE = { start: 0, end: SIZE };

/** Downloads a range as the server does, which releases each piece after it is sent. */
async function download({ store }: TestStore, range: ByteRange = WHOLE): Promise<Uint8Array> {
  const file = await store.files.reader.open(place("a"));
  assert(file !== undefined);
  using open = file;
  const all = new Uint8Array(range.end - range.start);
  let at = 0;
  for await (const piece of await open.read(range)) {
    all.set(piece, at);
    at += piece.byteLength;
    open.release(piece);
  }
  assertEquals(at, all.byteLength);
  return all;
}

testOnAll("Repeated downloads of all ranges of a file get its bytes", async (bench) => {
  const data = bytes(SIZE);
  await put(bench, "a", data);
  const ranges = [
    { start: CHUNK_SIZE - 5, end: 3 * CHUNK_SIZE + 5 },
    { start: 2 * CHUNK_SIZE, end: SIZE },
    WHOLE,
    { start: 10, end: 20 },
  ];
  for (const range of [...ranges, ...ranges, ...ranges]) {
    assertEquals(await download(bench, range), data.subarray(range.start, range.end));
  }
  const both = await Promise.all([download(bench), download(bench)]);
  assertEquals(both, [data, data]);
});

testOnAll("A download of a file that was replaced gets the new bytes", async (bench) => {
  for (let seed = 1; seed < 4; seed++) {
    await put(bench, "a", bytes(SIZE, seed));
    for (let i = 0; i < 3; i++) assertEquals(await download(bench), bytes(SIZE, seed));
  }
});

import { assertEquals } from "@std/assert";
import { crc32 } from "node:zlib";
import { bytes, place } from "../testing/bodies.ts";
import { upload } from "../testing/files.ts";
import { testOnAll } from "../testing/stores.ts";

testOnAll("The CRC-32 of a file of many parts is that of its bytes", async (bench) => {
  const sizes = [...Array(12).fill(5_000_000), 77];
  const id = await upload(bench, place("a"), sizes);
  await bench.store.uploads.complete(place("a"), id, () => true);
  const all = new Blob(sizes.map((size) => bytes(size)));
  using file = await bench.store.files.reader.open(place("a"));
  assertEquals(await file?.crc32(), crc32(new Uint8Array(await all.arrayBuffer())));
});

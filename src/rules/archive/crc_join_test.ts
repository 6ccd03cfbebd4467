import { assertEquals } from "@std/assert";
import { crc32 } from "node:zlib";
import { crcShift, joinCrc32 } from "./crc_join.ts";

Deno.test("The CRC-32 of parts is joined to that of the whole", () => {
  const bytes = Uint8Array.from({ length: 200_001 }, (_, i) => i * 31 ^ i >> 7);
  const cuts = [0, 1, 2, 3, 255, 256, 65_535, 65_536, 65_537, 131_072, 200_000, 200_001];
  for (const cut of cuts) {
    const [first, second] = [bytes.subarray(0, cut), bytes.subarray(cut)];
    const shift = crcShift(second.byteLength);
    assertEquals(joinCrc32(crc32(first), crc32(second), shift), crc32(bytes), `${cut}`);
  }
});

Deno.test("The CRC-32 of a file of many gigabytes can be joined", () => {
  // The CRC-32 of n zero bytes is joined from that of half as many.
  let whole = crc32(new Uint8Array(65_536));
  let size = 65_536;
  while (size < 2 ** 33) {
    whole = joinCrc32(whole, whole, crcShift(size));
    size *= 2;
  }
  // Of `head -c 8589934592 /dev/zero`.
  assertEquals([size, whole], [2 ** 33, 1_104_745_215]);
});

import { assertEquals } from "@std/assert";
import { Buffer } from "node:buffer";
import { createHash } from "node:crypto";
import {
  CHECKSUM_ALGORITHMS,
  CHECKSUM_LENGTH,
  type ChecksumAlgorithm,
  combineCrc,
  type CrcAlgorithm,
  createChecksum,
} from "./checksum.ts";

const CRCS: readonly CrcAlgorithm[] = ["CRC32", "CRC32C", "CRC64NVME"];

function checksumOf(algorithm: ChecksumAlgorithm, ...pieces: Uint8Array[]): Buffer {
  const checksum = createChecksum(algorithm);
  for (const piece of pieces) checksum.update(piece);
  return Buffer.from(checksum.digest());
}

function randomBytes(size: number): Uint8Array {
  return crypto.getRandomValues(new Uint8Array(size));
}

/** A CRC by its definition, a bit at a time. */
function slowCrc(bytes: Uint8Array, polynomial: bigint, width: bigint): string {
  const mask = (1n << width) - 1n;
  let crc = mask;
  for (const byte of bytes) {
    crc ^= BigInt(byte);
    for (let bit = 0; bit < 8; bit++) crc = crc & 1n ? crc >> 1n ^ polynomial : crc >> 1n;
  }
  return (crc ^ mask).toString(16).padStart(Number(width) / 4, "0");
}

Deno.test("checksums of 123456789 have the values of the catalogues of CRCs", () => {
  const text = Buffer.from("123456789");
  assertEquals(checksumOf("CRC32", text).toString("hex"), "cbf43926");
  assertEquals(checksumOf("CRC32C", text).toString("hex"), "e3069283");
  assertEquals(checksumOf("CRC64NVME", text).toString("hex"), "ae8b14860a799888");
  for (const algorithm of ["SHA1", "SHA256"] as const) {
    const expected = createHash(algorithm.toLowerCase()).update(text).digest();
    assertEquals(checksumOf(algorithm, text), expected);
  }
  for (const algorithm of CHECKSUM_ALGORITHMS) {
    assertEquals(checksumOf(algorithm).byteLength, CHECKSUM_LENGTH[algorithm]);
  }
});

Deno.test("CRCs of every short length are those of the definition", () => {
  for (let size = 0; size <= 70; size++) {
    const bytes = randomBytes(size);
    const [crc32c, crc64] = [checksumOf("CRC32C", bytes), checksumOf("CRC64NVME", bytes)];
    assertEquals(crc32c.toString("hex"), slowCrc(bytes, 0x82f63b78n, 32n));
    assertEquals(crc64.toString("hex"), slowCrc(bytes, 0x9a6c9329ac4bc9b5n, 64n));
  }
});

Deno.test("a checksum does not depend on how the bytes are cut", () => {
  const bytes = randomBytes(1000);
  for (const algorithm of CHECKSUM_ALGORITHMS) {
    const whole = checksumOf(algorithm, bytes);
    for (let round = 0; round < 20; round++) {
      const cuts = [0, Math.random() * 1000, Math.random() * 1000, 1000].sort((a, b) => a - b);
      const pieces = cuts.slice(1).map((end, i) => bytes.subarray(cuts[i], end));
      assertEquals(checksumOf(algorithm, ...pieces), whole);
    }
  }
});

Deno.test("the CRCs of parts make that of the whole", () => {
  for (const algorithm of CRCS) {
    for (const sizes of [[], [0], [5], [0, 7, 0], [1000, 1000, 1000, 13], [1, 65_536, 300, 2]]) {
      const parts = sizes.map(randomBytes);
      const described = parts.map((part) => ({
        value: checksumOf(algorithm, part).toString("base64"),
        size: part.byteLength,
      }));
      const whole = checksumOf(algorithm, ...parts).toString("base64");
      assertEquals(combineCrc(algorithm, described), whole, `${algorithm} of ${sizes}`);
    }
  }
});

Deno.test("the CRC of parts of 5 GiB is that of their bytes", () => {
  // 2^32 + 2^30 zero bytes, joined from halves down to single bytes.
  for (const algorithm of CRCS) {
    const grow = (value: string, size: number, count: number) =>
      combineCrc(algorithm, Array.from({ length: count }, () => ({ value, size })));
    let value = checksumOf(algorithm, new Uint8Array(1)).toString("base64");
    for (let size = 1; size < 2 ** 30; size *= 2) value = grow(value, size, 2);
    const large = grow(value, 2 ** 30, 5);
    const parts = [{ value: large, size: 5 * 2 ** 30 }, { value: large, size: 5 * 2 ** 30 }];
    assertEquals(combineCrc(algorithm, parts), grow(value, 2 ** 30, 10));
  }
});

/**
 * The checksums that senders of objects can choose, and how those of parts make one of the whole object.
 *
 * @module
 */
import { Buffer } from "node:buffer";
import { createHash } from "node:crypto";
import { crc32 } from "node:zlib";
import { CRC32, crcShift, type Halves, joinCrc } from "../../rules/archive/crc_join.ts";
import { CRC32C, crc32c, CRC64NVME, crc64nvme } from "./crc.ts";

/** The algorithms, as headers name them. */
export const CHECKSUM_ALGORITHMS = ["CRC32", "CRC32C", "CRC64NVME", "SHA1", "SHA256"] as const;
export type ChecksumAlgorithm = typeof CHECKSUM_ALGORITHMS[number];

/** The algorithms whose checksums of parts make that of the whole object. */
export type CrcAlgorithm = "CRC32" | "CRC32C" | "CRC64NVME";

/** The length of a checksum in bytes. */
export const CHECKSUM_LENGTH: Readonly<Record<ChecksumAlgorithm, number>> = {
  CRC32: 4,
  CRC32C: 4,
  CRC64NVME: 8,
  SHA1: 20,
  SHA256: 32,
};

/** A checksum that is being computed. */
export interface Checksum {
  update(bytes: Uint8Array): void;
  digest(): Uint8Array;
}

export function createChecksum(algorithm: ChecksumAlgorithm): Checksum {
  switch (algorithm) {
    case "CRC32":
      return crcChecksum<number>(0, crc32, toBytes32);
    case "CRC32C":
      return crcChecksum<number>(0, crc32c, toBytes32);
    case "CRC64NVME":
      return crcChecksum({ high: 0, low: 0 }, crc64nvme, toBytes64);
    case "SHA1":
      return createHash("sha1");
    case "SHA256":
      return createHash("sha256");
  }
}

function crcChecksum<T>(
  empty: T,
  extend: (bytes: Uint8Array, crc: T) => T,
  toBytes: (crc: T) => Uint8Array,
): Checksum {
  let crc = empty;
  return {
    update(bytes) {
      crc = extend(bytes, crc);
    },
    digest: () => toBytes(crc),
  };
}

function toBytes32(crc: number): Uint8Array {
  return toBytes64({ high: 0, low: crc }).subarray(4);
}

function toBytes64({ high, low }: Halves): Uint8Array {
  const bytes = Buffer.alloc(8);
  bytes.writeUInt32BE(high >>> 0, 0);
  bytes.writeUInt32BE(low >>> 0, 4);
  return bytes;
}

export interface CrcPart {
  /** Its checksum in base64. */
  value: string;
  /** Bytes. */
  size: number;
}

const POLYNOMIALS = { CRC32, CRC32C, CRC64NVME };

/** Returns the checksum of the bytes of all parts in base64, from the checksums of the parts. */
export function combineCrc(algorithm: CrcAlgorithm, parts: Iterable<CrcPart>): string {
  const polynomial = POLYNOMIALS[algorithm];
  const isWide = polynomial.width === 64;
  let whole: Halves = { high: 0, low: 0 };
  let shift: Halves | undefined;
  let shiftedSize: number | undefined;
  for (const { value, size } of parts) {
    // All parts but the last usually have the same size.
    if (shift === undefined || size !== shiftedSize) shift = crcShift(size, polynomial);
    shiftedSize = size;
    const bytes = Buffer.from(value, "base64");
    const part = {
      high: bytes.readUInt32BE(0),
      low: isWide ? bytes.readUInt32BE(4) : 0,
    };
    whole = joinCrc(whole, part, shift, polynomial);
  }
  return Buffer.from(isWide ? toBytes64(whole) : toBytes32(whole.high)).toString("base64");
}

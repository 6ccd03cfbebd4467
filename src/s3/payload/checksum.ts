/**
 * The checksums that senders of objects can choose, and how those of parts make one of the whole object.
 *
 * @module
 */
import { Buffer } from "node:buffer";
import { createHash, type Hash } from "node:crypto";
import { crc32 } from "node:zlib";
import { crc32c, CRC32C_POLYNOMIAL } from "./crc32c.ts";
import { crc64nvme, CRC64NVME_POLYNOMIAL, type Halves } from "./crc64nvme.ts";
import { crcShift, joinCrc } from "./crc_join.ts";
import type { CrcPolynomial } from "./crc_tables.ts";

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

/** Starts a checksum. */
export function createChecksum(algorithm: ChecksumAlgorithm): Checksum {
  switch (algorithm) {
    case "CRC32":
      return new Crc<number>(0, crc32, toBytes32);
    case "CRC32C":
      return new Crc<number>(0, crc32c, toBytes32);
    case "CRC64NVME":
      return new Crc({ high: 0, low: 0 }, crc64nvme, toBytes64);
    case "SHA1":
      return new Digest(createHash("sha1"));
    case "SHA256":
      return new Digest(createHash("sha256"));
  }
}

class Crc<T> implements Checksum {
  #value: T;

  constructor(
    empty: T,
    private readonly extend: (bytes: Uint8Array, crc: T) => T,
    private readonly toBytes: (crc: T) => Uint8Array,
  ) {
    this.#value = empty;
  }

  update(bytes: Uint8Array): void {
    this.#value = this.extend(bytes, this.#value);
  }

  digest(): Uint8Array {
    return this.toBytes(this.#value);
  }
}

class Digest implements Checksum {
  constructor(private readonly hash: Hash) {}

  update(bytes: Uint8Array): void {
    this.hash.update(bytes);
  }

  digest(): Uint8Array {
    return this.hash.digest();
  }
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

/** A part of an object. */
export interface CrcPart {
  /** Its checksum in base64. */
  value: string;
  /** Bytes. */
  size: number;
}

const POLYNOMIALS: Readonly<Record<CrcAlgorithm, CrcPolynomial>> = {
  CRC32: { high: 0xedb88320, low: 0, width: 32 },
  CRC32C: { high: CRC32C_POLYNOMIAL, low: 0, width: 32 },
  CRC64NVME: { ...CRC64NVME_POLYNOMIAL, width: 64 },
};

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

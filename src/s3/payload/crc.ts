/**
 * CRC-32C and CRC-64/NVME, which no library of the runtime has.
 *
 * @module
 */
import type { CrcPolynomial, Halves } from "../../rules/archive/crc_join.ts";

/** The halves of the values of tables, one table after the other. */
interface CrcTables {
  high: Int32Array;
  low: Int32Array;
}

/**
 * Makes the tables of "slicing": table n holds the CRCs of a byte that n zero bytes follow, so that many bytes can be
 * looked up independently of each other.
 */
function crcTables(polynomial: CrcPolynomial, count: number): CrcTables {
  const high = new Int32Array(256 * count);
  const low = new Int32Array(256 * count);
  const isWide = polynomial.width === 64;
  for (let byte = 0; byte < 256; byte++) {
    let [h, l] = isWide ? [0, byte] : [byte, 0];
    for (let bit = 0; bit < 8; bit++) {
      const carry = isWide ? l & 1 : h & 1;
      l = isWide ? l >>> 1 | h << 31 : 0;
      h >>>= 1;
      if (carry === 0) continue;
      h ^= polynomial.high;
      l ^= polynomial.low;
    }
    high[byte] = h;
    low[byte] = l;
  }
  for (let at = 256; at < high.length; at++) {
    const h = high[at - 256] ?? 0;
    const l = low[at - 256] ?? 0;
    const byte = (isWide ? l : h) & 255;
    high[at] = h >>> 8 ^ (high[byte] ?? 0);
    low[at] = isWide ? (l >>> 8 | h << 24) ^ (low[byte] ?? 0) : 0;
  }
  return { high, low };
}

/** The polynomial of CRC-32C (Castagnoli), the highest power last. */
export const CRC32C: CrcPolynomial = { high: 0x82f63b78, low: 0, width: 32 };

/** Bytes of CRC-32C that are taken in one step: each has its table of 256 values. */
const STEP_32 = 16;

const TABLES = crcTables(CRC32C, STEP_32).high;

/** Returns the CRC-32C of more bytes. @param crc That of the bytes before; 0 if there are none. */
export function crc32c(bytes: Uint8Array, crc = 0): number {
  const t = TABLES;
  let c = ~crc;
  let i = 0;
  for (const end = bytes.length - STEP_32; i <= end; i += STEP_32) {
    c ^= bytes[i]! | bytes[i + 1]! << 8 | bytes[i + 2]! << 16 | bytes[i + 3]! << 24;
    c = t[3840 + (c & 255)]! ^ t[3584 + (c >>> 8 & 255)]! ^
      t[3328 + (c >>> 16 & 255)]! ^ t[3072 + (c >>> 24)]! ^
      t[2816 + bytes[i + 4]!]! ^ t[2560 + bytes[i + 5]!]! ^ t[2304 + bytes[i + 6]!]! ^
      t[2048 + bytes[i + 7]!]! ^
      t[1792 + bytes[i + 8]!]! ^ t[1536 + bytes[i + 9]!]! ^ t[1280 + bytes[i + 10]!]! ^
      t[1024 + bytes[i + 11]!]! ^
      t[768 + bytes[i + 12]!]! ^ t[512 + bytes[i + 13]!]! ^ t[256 + bytes[i + 14]!]! ^
      t[bytes[i + 15]!]!;
  }
  for (; i < bytes.length; i++) c = c >>> 8 ^ t[(c ^ bytes[i]!) & 255]!;
  return ~c >>> 0;
}

/** The polynomial of CRC-64/NVME, the highest power last. */
export const CRC64NVME: CrcPolynomial = { high: 0x9a6c9329, low: 0xac4bc9b5, width: 64 };

/** The same for CRC-64/NVME. */
const STEP_64 = 8;

const { high: HIGH, low: LOW } = crcTables(CRC64NVME, STEP_64);

/** Returns the CRC-64/NVME of more bytes. @param crc That of the bytes before; absent if there are none. */
export function crc64nvme(bytes: Uint8Array, crc: Halves = { high: 0, low: 0 }): Halves {
  const h = HIGH, l = LOW;
  let high = ~crc.high, low = ~crc.low;
  let i = 0;
  for (const end = bytes.length - STEP_64; i <= end; i += STEP_64) {
    low ^= bytes[i]! | bytes[i + 1]! << 8 | bytes[i + 2]! << 16 | bytes[i + 3]! << 24;
    high ^= bytes[i + 4]! | bytes[i + 5]! << 8 | bytes[i + 6]! << 16 | bytes[i + 7]! << 24;
    const i7 = 1792 + (low & 255), i6 = 1536 + (low >>> 8 & 255);
    const i5 = 1280 + (low >>> 16 & 255), i4 = 1024 + (low >>> 24);
    const i3 = 768 + (high & 255), i2 = 512 + (high >>> 8 & 255);
    const i1 = 256 + (high >>> 16 & 255), i0 = high >>> 24;
    high = h[i7]! ^ h[i6]! ^ h[i5]! ^ h[i4]! ^ h[i3]! ^ h[i2]! ^ h[i1]! ^ h[i0]!;
    low = l[i7]! ^ l[i6]! ^ l[i5]! ^ l[i4]! ^ l[i3]! ^ l[i2]! ^ l[i1]! ^ l[i0]!;
  }
  for (; i < bytes.length; i++) {
    const index = (low ^ bytes[i]!) & 255;
    low = (low >>> 8 | high << 24) ^ l[index]!;
    high = high >>> 8 ^ h[index]!;
  }
  return { high: ~high >>> 0, low: ~low >>> 0 };
}

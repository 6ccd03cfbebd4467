import { crcTables } from "./crc_tables.ts";

/** The polynomial of CRC-32C (Castagnoli), the highest power last. */
export const CRC32C_POLYNOMIAL = 0x82f63b78;

/** Bytes that are taken in one step: each has its table of 256 values. */
const STEP = 16;

const TABLES = crcTables({ high: CRC32C_POLYNOMIAL, low: 0, width: 32 }, STEP).high;

/** Returns the CRC-32C of more bytes. @param crc That of the bytes before; 0 if there are none. */
export function crc32c(bytes: Uint8Array, crc = 0): number {
  const t = TABLES;
  let c = ~crc;
  let i = 0;
  for (const end = bytes.length - STEP; i <= end; i += STEP) {
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

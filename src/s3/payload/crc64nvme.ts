import { crcTables } from "./crc_tables.ts";

/** The halves of a 64-bit number. */
export interface Halves {
  high: number;
  low: number;
}

/** The polynomial of CRC-64/NVME, the highest power last. */
export const CRC64NVME_POLYNOMIAL: Halves = { high: 0x9a6c9329, low: 0xac4bc9b5 };

/** Bytes that are taken in one step: each has its table of 256 values. */
const STEP = 8;

const { high: HIGH, low: LOW } = crcTables({ ...CRC64NVME_POLYNOMIAL, width: 64 }, STEP);

/** Returns the CRC-64/NVME of more bytes. @param crc That of the bytes before; absent if there are none. */
export function crc64nvme(bytes: Uint8Array, crc: Halves = { high: 0, low: 0 }): Halves {
  const h = HIGH, l = LOW;
  let high = ~crc.high, low = ~crc.low;
  let i = 0;
  for (const end = bytes.length - STEP; i <= end; i += STEP) {
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

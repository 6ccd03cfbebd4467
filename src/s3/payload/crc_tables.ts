/** A reflected CRC polynomial of 32 or 64 bits, the highest power last. One of 32 bits is in the high half. */
export interface CrcPolynomial {
  high: number;
  low: number;
  width: 32 | 64;
}

/** The halves of the values of tables, one table after the other. */
export interface CrcTables {
  high: Int32Array;
  low: Int32Array;
}

/**
 * Makes the tables of "slicing": table n holds the CRCs of a byte that n zero bytes follow, so that many bytes can be
 * looked up independently of each other.
 */
export function crcTables(polynomial: CrcPolynomial, count: number): CrcTables {
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

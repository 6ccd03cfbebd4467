/**
 * CRCs of joined bytes, from the CRC of each part and its length, without the bytes: arithmetic with polynomials over
 * GF(2) modulo the polynomial of the CRC. The highest power is last, so x^0 is the highest bit of the high half.
 *
 * @module
 */

/** The halves of a 64-bit number. */
export interface Halves {
  high: number;
  low: number;
}

/** A reflected CRC polynomial of 32 or 64 bits, the highest power last. One of 32 bits is in the high half. */
export interface CrcPolynomial extends Halves {
  width: 32 | 64;
}

/** The polynomial of the CRC-32 of zip archives and of the checksums of chunks. */
export const CRC32: CrcPolynomial = { high: 0xedb88320, low: 0, width: 32 };

/** x^8, which appends a zero byte. */
const X8: Halves = { high: 0x00800000, low: 0 };

/** x^0 */
const ONE: Halves = { high: 0x80000000, low: 0 };

/** Returns what appends a number of zero bytes, which is to be kept where many parts have the same length. */
export function crcShift(bytes: number, polynomial = CRC32): Halves {
  let shift = ONE;
  let power = X8;
  for (let rest = bytes; rest > 0; rest = Math.floor(rest / 2)) {
    if (rest % 2 === 1) shift = multiply(power, shift, polynomial);
    if (rest > 1) power = multiply(power, power, polynomial);
  }
  return shift;
}

/** Returns the CRC of two parts. @param shift That of the length of the second part. */
export function joinCrc(
  first: Halves,
  second: Halves,
  shift: Halves,
  polynomial: CrcPolynomial,
): Halves {
  const { high, low } = multiply(shift, first, polynomial);
  return { high: (high ^ second.high) >>> 0, low: (low ^ second.low) >>> 0 };
}

/** The same for CRC-32. */
export function joinCrc32(first: number, second: number, shift: Halves): number {
  return joinCrc({ high: first, low: 0 }, { high: second, low: 0 }, shift, CRC32).high;
}

function multiply(a: Halves, b: Halves, { high, low, width }: CrcPolynomial): Halves {
  let productHigh = 0, productLow = 0;
  let factorHigh = b.high, factorLow = b.low;
  for (let bit = 0; bit < width; bit++) {
    const word = bit < 32 ? a.high : a.low;
    if (word >>> (31 - bit % 32) & 1) {
      productHigh ^= factorHigh;
      productLow ^= factorLow;
    }
    const carry = (width === 64 ? factorLow : factorHigh) & 1;
    factorLow = width === 64 ? factorLow >>> 1 | factorHigh << 31 : 0;
    factorHigh >>>= 1;
    if (carry === 0) continue;
    factorHigh ^= high;
    factorLow ^= low;
  }
  return { high: productHigh >>> 0, low: productLow >>> 0 };
}

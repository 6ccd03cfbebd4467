/**
 * CRCs of joined bytes, from the CRC of each part and its length, without the bytes: arithmetic with polynomials over
 * GF(2) modulo the polynomial of the CRC. The highest power is last, so x^0 is the highest bit of the high half.
 *
 * @module
 */
import type { Halves } from "./crc64nvme.ts";
import type { CrcPolynomial } from "./crc_tables.ts";

/** x^8, which appends a zero byte. */
const X8: Halves = { high: 0x00800000, low: 0 };

/** x^0 */
const ONE: Halves = { high: 0x80000000, low: 0 };

/** Returns what appends a number of zero bytes, for `joinCrc`. */
export function crcShift(bytes: number, polynomial: CrcPolynomial): Halves {
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

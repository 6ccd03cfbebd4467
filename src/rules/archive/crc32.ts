/**
 * CRC-32 of joined bytes, from the CRC-32 of each part and its length, without the bytes. Polynomials over GF(2) modulo
 * the CRC's polynomial are 32 bits, the highest power last, as in zlib's `crc32_combine`.
 *
 * @module
 */

/** The polynomial of CRC-32. */
const POLYNOMIAL = 0xedb88320;

/** The polynomial 1. */
const ONE = 0x80000000;

/** The powers x^(8 · 2^n) at index n: they append 2^n zero bytes. */
const POWERS = powers();

/** Appends a number of zero bytes to what a CRC-32 is of, see `joinCrc32`. */
export type CrcShift = number;

/** Returns the shift by a number of bytes, which is to be kept where many parts have the same length. */
export function crcShift(bytes: number): CrcShift {
  let shift = ONE;
  for (let rest = bytes, n = 0; rest > 0; rest = Math.floor(rest / 2), n++) {
    if (rest % 2 === 1) shift = multiply(POWERS[n] ?? 0, shift);
  }
  return shift;
}

/** Returns the CRC-32 of two parts. @param shift The shift by the length of the second part. */
export function joinCrc32(first: number, second: number, shift: CrcShift): number {
  return (multiply(shift, first) ^ second) >>> 0;
}

function multiply(a: number, b: number): number {
  let product = 0;
  let factor = b;
  for (let rest = a | 0; rest !== 0; rest <<= 1) {
    if (rest < 0) product ^= factor;
    factor = factor & 1 ? factor >>> 1 ^ POLYNOMIAL : factor >>> 1;
  }
  return product >>> 0;
}

function powers(): number[] {
  // x^8
  let power = ONE >>> 8;
  return Array.from({ length: 53 }, () => {
    const current = power;
    power = multiply(power, power);
    return current;
  });
}

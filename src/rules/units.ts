/**
 * Byte sizes and durations: the units the code counts in, and how people write and read them. Every size is in bytes
 * and every duration in milliseconds unless a name says otherwise.
 *
 * @module
 */

export const KIB = 2 ** 10;
export const MIB = 2 ** 20;
export const GIB = 2 ** 30;

export const SECOND = 1000;
export const MINUTE = 60 * SECOND;
export const HOUR = 60 * MINUTE;
export const DAY = 24 * HOUR;

/** Bytes of each unit that a size may be written in, by its name in lower case. */
const BYTES_PER_UNIT: ReadonlyMap<string, number> = new Map([
  ["", 1],
  ["b", 1],
  ["kb", 1e3],
  ["mb", 1e6],
  ["gb", 1e9],
  ["tb", 1e12],
  ["pb", 1e15],
  ["kib", KIB],
  ["mib", MIB],
  ["gib", GIB],
  ["tib", 2 ** 40],
  ["pib", 2 ** 50],
]);

/** Milliseconds of each unit that a duration may be written in; a number without a unit is seconds. */
const MILLISECONDS_PER_UNIT: ReadonlyMap<string, number> = new Map([
  ["ms", 1],
  ["", SECOND],
  ["s", SECOND],
  ["m", MINUTE],
  ["h", HOUR],
  ["d", DAY],
]);

/** The longest delay of a timer of the runtime, some 24.8 days. A longer one would fire at once. */
const MAX_TIMER_DELAY = 2 ** 31 - 1;

/** The units of `formatBytes`, each 1000 times the one before. */
const DECIMAL_UNITS = ["kB", "MB", "GB", "TB", "PB"];

/**
 * Parses a size such as `500MB`, `1.5TB` or `10GiB`. Units are case-insensitive; a bare number is bytes.
 *
 * @param min The smallest size that is accepted, in bytes.
 * @returns Bytes, or `undefined` if the text is no size, below `min`, or above 2^53 - 1.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * assertEquals(parseByteSize("1.5 MiB"), 1_572_864);
 * assertEquals(parseByteSize("10 apples"), undefined);
 * ```
 */
export function parseByteSize(text: string, min = 1): number | undefined {
  const [, number, unit = ""] = /^(\d+(?:\.\d+)?) ?([a-z]*)$/i.exec(text.trim()) ?? [];
  const factor = BYTES_PER_UNIT.get(unit.toLowerCase());
  if (number === undefined || factor === undefined) return undefined;
  // There is no half byte.
  if (factor === 1 && number.includes(".")) return undefined;
  const bytes = Math.round(Number(number) * factor);
  return bytes >= min && Number.isSafeInteger(bytes) ? bytes : undefined;
}

/**
 * Formats a size in powers of 1000 with two or three digits: `512 B`, `1.5 MB`, `230 GB`.
 *
 * @param bytes Zero or more.
 */
export function formatBytes(bytes: number): string {
  if (bytes < 1000) return `${Math.round(bytes)} B`;
  let value = bytes;
  let unit = -1;
  // 999.5 kB would be rounded to "1000 kB": it is 1.0 MB.
  while (value >= 999.5 && unit < DECIMAL_UNITS.length - 1) {
    value /= 1000;
    unit++;
  }
  return `${value.toFixed(value < 9.95 ? 1 : 0)} ${DECIMAL_UNITS[unit]}`;
}

/**
 * Parses a duration such as `500ms`, `10s`, `30m`, `24h` or `7d`; a bare number is seconds.
 *
 * @param max The longest duration that is accepted, in milliseconds.
 * @returns Milliseconds, or `undefined` if the text is no duration, shorter than a millisecond, or longer than `max`.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * assertEquals(parseDuration("1.5h"), 5_400_000);
 * assertEquals(parseDuration("soon"), undefined);
 * ```
 */
export function parseDuration(text: string, max = MAX_TIMER_DELAY): number | undefined {
  const [, number, unit = ""] = /^(\d+(?:\.\d+)?)(ms|s|m|h|d)?$/.exec(text.trim()) ?? [];
  const factor = MILLISECONDS_PER_UNIT.get(unit);
  if (number === undefined || factor === undefined) return undefined;
  const milliseconds = Math.round(Number(number) * factor);
  return milliseconds >= 1 && milliseconds <= max ? milliseconds : undefined;
}

/** The longest life of a key or a link, and time until a file expires, in seconds: ten years of 365 days. */
export const MAX_EXPIRES_IN = 315_360_000;

/** The most days of a project's usage that are kept and returned. */
export const MAX_USAGE_DAYS = 400;

/** The days of usage that are returned unless a request says otherwise. */
export const DEFAULT_USAGE_DAYS = 30;

/** The longest time that the trash of a project keeps files, in days. */
export const MAX_TRASH_DAYS = 365;

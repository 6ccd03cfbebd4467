/**
 * Every limit of the program, with its unit and where it comes from. Sizes are bytes, times are milliseconds.
 *
 * @module
 */

export const MIB = 2 ** 20;

export const SECOND = 1000;

export const MINUTE = 60 * SECOND;

const BYTES_PER_UNIT: Record<string, number> = {
  "": 1,
  b: 1,
  kb: 1e3,
  mb: 1e6,
  gb: 1e9,
  tb: 1e12,
  pb: 1e15,
  kib: 2 ** 10,
  mib: 2 ** 20,
  gib: 2 ** 30,
  tib: 2 ** 40,
  pib: 2 ** 50,
};

/**
 * Bytes of a size such as `500MB`, `1.5TB` or `10GiB`, in capital letters or small ones; a bare number is bytes.
 * `undefined` if it is none, less than a byte, or more than can be counted exactly.
 */
export function parseByteSize(text: string): number | undefined {
  const match = /^(\d+(?:\.\d+)?) ?([a-z]*)$/i.exec(text.trim());
  const unit = BYTES_PER_UNIT[(match?.[2] ?? "").toLowerCase()];
  if (match === null || unit === undefined) return undefined;
  const bytes = Math.round(Number(match[1]) * unit);
  return bytes >= 1 && Number.isSafeInteger(bytes) ? bytes : undefined;
}

const DECIMAL_UNITS = ["kB", "MB", "GB", "TB", "PB"];

/** A number of bytes for people, in powers of 1000 and three digits or so: "512 B", "1.5 MB", "230 GB". */
export function formatBytes(bytes: number): string {
  if (bytes < 1000) return `${Math.round(bytes)} B`;
  let value = bytes;
  let unit = -1;
  // What rounds to 1000 is one of the next.
  while (value >= 999.5 && unit < DECIMAL_UNITS.length - 1) {
    value /= 1000;
    unit++;
  }
  return `${value.toFixed(value < 9.95 ? 1 : 0)} ${DECIMAL_UNITS[unit]}`;
}

const MILLISECONDS_PER_UNIT: Record<string, number> = {
  ms: 1,
  s: 1000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
};

/** The longest time that a timer of the runtime can wait, in milliseconds. */
const MAX_DURATION = 2 ** 31 - 1;

/**
 * Milliseconds of a time such as `500ms`, `10s`, `30m`, `24h` or `7d`; a bare number is seconds. `undefined` if it is none.
 *
 * @param max The longest time, in milliseconds.
 */
export function parseDuration(text: string, max = MAX_DURATION): number | undefined {
  const match = /^(\d+(?:\.\d+)?)(ms|s|m|h|d)?$/.exec(text.trim());
  if (match === null) return undefined;
  const milliseconds = Math.round(Number(match[1]) * (MILLISECONDS_PER_UNIT[match[2] ?? "s"] ?? 0));
  return milliseconds >= 1 && milliseconds <= max ? milliseconds : undefined;
}

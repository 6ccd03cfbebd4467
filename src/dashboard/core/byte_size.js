/** @type {Record<string, number>} */
const UNITS = {
  "": 1,
  B: 1,
  KB: 1e3,
  MB: 1e6,
  GB: 1e9,
  TB: 1e12,
  PB: 1e15,
  KIB: 2 ** 10,
  MIB: 2 ** 20,
  GIB: 2 ** 30,
  TIB: 2 ** 40,
  PIB: 2 ** 50,
};

/** What is longer is easier to read in single bytes. */
const MAX_DIGITS = 6;

/**
 * Bytes of a size as people type it: `500MB`, `1.5 TB`, `10GiB`, or a bare number of bytes. The command line reads the same.
 *
 * @param {string} text
 * @returns {number}
 * @throws {Error} With a sentence where it is none.
 */
export function parseBytes(text) {
  const bytes = read(text);
  if (bytes !== undefined) return bytes;
  throw new Error("The limit must be a size such as 500 MB, 10 GB or 1.5 TB");
}

/** @param {string} text @returns {number | undefined} */
function read(text) {
  const [, number, unit = ""] = /^(\d+(?:\.\d+)?) ?([a-z]*)$/i.exec(text.trim()) ?? [];
  const factor = UNITS[unit.toUpperCase()];
  const bytes = Math.round(Number(number) * (factor ?? NaN));
  return bytes >= 1 && Number.isSafeInteger(bytes) ? bytes : undefined;
}

/**
 * A number of bytes so that `parseBytes` reads exactly it, in the largest unit that has few digits.
 *
 * @param {number} bytes
 * @returns {string}
 */
export function writeBytes(bytes) {
  for (const unit of ["PB", "PiB", "TB", "TiB", "GB", "GiB", "MB", "MiB", "kB", "KiB"]) {
    const count = String(bytes / (UNITS[unit.toUpperCase()] ?? 1));
    const isShort = count.length <= MAX_DIGITS && !count.startsWith("0.");
    if (isShort && read(`${count} ${unit}`) === bytes) return `${count} ${unit}`;
  }
  return String(bytes);
}

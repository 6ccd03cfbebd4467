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

/** Longest number in a unit; longer ones are written in bytes. */
const MAX_DIGITS = 6;

/**
 * Parses a size: `500MB`, `1.5 TB`, `10GiB`, or a number of bytes. Same syntax as the command line.
 *
 * @param {string} text
 * @returns {number}
 * @throws {Error} If the text is not a size.
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
 * Formats a number of bytes exactly, for `parseBytes`, in the largest unit with few digits.
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

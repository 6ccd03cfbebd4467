/**
 * A row of a list: a file, or a folder, which has only a name that ends with a slash.
 *
 * @typedef {import("../core/types.d.ts").FileDetails} Entry
 *
 * @typedef {"name" | "size" | "type" | "modified"} Column
 * @typedef {{column: Column, descending: boolean}} Order
 */

/** The order in which the server lists a folder. @type {Order} */
export const SERVER_ORDER = { column: "name", descending: false };

/** @param {Entry} entry */
export function isFolder({ name }) {
  return name.endsWith("/");
}

/** @param {Order} order */
export function isServerOrder({ column, descending }) {
  return column === "name" && !descending;
}

/**
 * Sorts entries. By size, type and time, folders come first, by name;
 * equal entries keep the server's order of names.
 *
 * @param {readonly Entry[]} entries in the server's order
 * @param {Order} order
 * @returns {Entry[]}
 */
export function sorted(entries, { column, descending }) {
  if (column === "name") return descending ? entries.toReversed() : [...entries];
  const folders = entries.filter(isFolder);
  const files = entries.filter((entry) => !isFolder(entry));
  const sign = descending ? -1 : 1;
  const compare = COMPARE[column];
  return [...folders, ...files.sort((a, b) => sign * compare(a, b))];
}

/** @type {Record<Exclude<Column, "name">, (a: Entry, b: Entry) => number>} */
const COMPARE = {
  size: (a, b) => (a.size ?? 0) - (b.size ?? 0),
  type: (a, b) => compareText(a.content_type, b.content_type),
  // The times have one format, so their text sorts like the time.
  modified: (a, b) => compareText(a.modified, b.modified),
};

/**
 * @param {string | undefined} a
 * @param {string | undefined} b
 */
function compareText(a = "", b = "") {
  return a < b ? -1 : a > b ? 1 : 0;
}

/**
 * Compares names like the server: by UTF-8 bytes, which is the order of code points. JavaScript compares UTF-16
 * units, where surrogates sort below U+E000 to U+FFFF.
 *
 * @param {string} a
 * @param {string} b
 * @returns {number} below 0 if `a` comes first, 0 if they are equal
 */
export function compareNames(a, b) {
  const length = Math.min(a.length, b.length);
  for (let index = 0; index < length; index++) {
    const [x, y] = [a.charCodeAt(index), b.charCodeAt(index)];
    if (x !== y) return rank(x) - rank(y);
  }
  return a.length - b.length;
}

/** @param {number} unit of UTF-16 */
function rank(unit) {
  return unit >= 0xd800 && unit <= 0xdfff ? unit + 0x10000 : unit;
}

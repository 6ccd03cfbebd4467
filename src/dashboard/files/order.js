/**
 * A row of a list: a file, or a folder, whose name ends with a slash and which has nothing else.
 *
 * @typedef {import("../core/types.d.ts").FileDetails} Entry
 *
 * @typedef {"name" | "size" | "type" | "modified"} Column
 * @typedef {{column: Column, descending: boolean}} Order
 */

/** The order in which the server gives a folder. @type {Order} */
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
 * The entries in an order. By size, type and time the folders, which have none of these, come first by their names; what
 * is equal keeps the server's order of names.
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
  // Times of one form: their text is in the order of time.
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
 * The server's order of names, that of their UTF-8 bytes, which is that of code points. JavaScript compares halves of
 * surrogate pairs, which stand below U+E000 to U+FFFF.
 *
 * @param {string} a
 * @param {string} b
 * @returns {number} below 0 where `a` comes first, 0 where they are the same
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

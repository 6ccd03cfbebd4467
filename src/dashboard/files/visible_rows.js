/** Rows above and below the visible ones that are made too, so that scrolling shows no gap. */
const MARGIN = 12;

/**
 * Which rows of a scrolled list have to be there: `first` to `end`, the latter not included.
 *
 * @param {object} box
 * @param {number} box.top pixels that are scrolled away
 * @param {number} box.height pixels that are visible
 * @param {number} box.rowHeight pixels
 * @param {number} count rows in all
 * @returns {{first: number, end: number}}
 */
export function visibleRows({ top, height, rowHeight }, count) {
  if (rowHeight <= 0) return { first: 0, end: 0 };
  const first = Math.max(0, Math.floor(top / rowHeight) - MARGIN);
  const end = Math.min(count, Math.ceil((top + height) / rowHeight) + MARGIN);
  return { first: Math.min(first, end), end };
}

/**
 * Where to scroll so that a row is seen whole, moving as little as possible.
 *
 * @param {{top: number, height: number, rowHeight: number}} box
 * @param {number} row
 * @returns {number} pixels
 */
export function scrolledTo({ top, height, rowHeight }, row) {
  const start = row * rowHeight;
  if (start < top) return start;
  return Math.max(top, start + rowHeight - height);
}

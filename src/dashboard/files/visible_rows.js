/** Rows above and below the visible ones that are rendered too, so that scrolling shows no gap. */
const MARGIN = 12;

/**
 * The rows to render: from `first` up to, not including, `end`.
 *
 * @param {object} box
 * @param {number} box.top scroll offset in pixels
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
 * The nearest scroll offset at which a row is fully visible.
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

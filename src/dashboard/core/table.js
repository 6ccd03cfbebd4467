import { fill, h } from "./dom.js";

/** @import { Child } from "./types.d.ts" */

/**
 * @template R
 * @typedef {object} Column
 * @property {string} key
 * @property {string} label
 * @property {(row: R) => Child} cell
 * @property {(row: R) => string | number} [value] Sort key; without it the column cannot be sorted.
 * @property {boolean} [isNumber] Right-aligned.
 * @property {boolean} [isHeading] The cell that names the row.
 * @property {boolean} [isQuiet] The label is for screen readers only, as above buttons.
 */

/**
 * @template R
 * @typedef {object} TableOptions
 * @property {string} caption For screen readers.
 * @property {Column<R>[]} columns
 * @property {R[]} rows
 * @property {Child} empty Shown in place of a table without rows.
 * @property {{key: string, isDown: boolean}} [sort] Initial order.
 * @property {(sort: {key: string, isDown: boolean}) => void} [onSort] Called when the order changes.
 */

const COLLATOR = new Intl.Collator("en", { numeric: true });

/**
 * A sortable table. On narrow screens each row becomes a card.
 *
 * @template R
 * @param {TableOptions<R>} options
 * @returns {{element: HTMLElement, setRows(rows: R[]): void}}
 */
export function createTable({ caption, columns, rows, empty, sort, onSort }) {
  let shown = rows;
  let order = sort;
  const body = h("tbody");
  const heads = columns.map((column) => headOf(column, () => choose(column.key)));
  const table = h(
    "table",
    {},
    h("caption", { class: "visually-hidden" }, caption),
    h("thead", {}, h("tr", {}, heads)),
    body,
  );
  const nothing = h("div", { class: "empty" }, empty);
  const box = h("div", { class: "table-box" });

  const render = () => {
    for (const [index, column] of columns.entries()) markHead(heads[index], column, order);
    fill(body, sorted(shown, columns, order).map((row) => rowOf(columns, row)));
    const content = shown.length === 0 ? nothing : table;
    // Keep the focus on the pressed button.
    if (box.firstChild !== content) fill(box, content);
  };
  /** @param {string} key */
  const choose = (key) => {
    order = { key, isDown: order?.key === key && !order.isDown };
    render();
    onSort?.(order);
  };
  render();
  return {
    element: box,
    setRows(rows) {
      shown = rows;
      render();
    },
  };
}

/**
 * @template R
 * @param {R[]} rows @param {Column<R>[]} columns @param {{key: string, isDown: boolean} | undefined} order
 * @returns {R[]}
 */
function sorted(rows, columns, order) {
  const value = columns.find(({ key }) => key === order?.key)?.value;
  if (value === undefined) return rows;
  const direction = order?.isDown ? -1 : 1;
  return rows.toSorted((a, b) => direction * compare(value(a), value(b)));
}

/** @param {string | number} a @param {string | number} b */
function compare(a, b) {
  return typeof a === "number" && typeof b === "number"
    ? a - b
    : COLLATOR.compare(String(a), String(b));
}

/** @template R @param {Column<R>} column @param {() => void} onChoose */
function headOf({ label, value, isNumber, isQuiet }, onChoose) {
  const text = isQuiet ? h("span", { class: "visually-hidden" }, label) : label;
  const inner = value === undefined
    ? text
    : h("button", { type: "button", class: "sort", on: { click: onChoose } }, text);
  return h("th", { scope: "col", class: isNumber ? "number" : undefined }, inner);
}

/**
 * @template R
 * @param {HTMLElement | undefined} head @param {Column<R>} column
 * @param {{key: string, isDown: boolean} | undefined} order
 */
function markHead(head, { key, value }, order) {
  if (value === undefined || head === undefined) return;
  if (order?.key === key) {
    head.setAttribute("aria-sort", order.isDown ? "descending" : "ascending");
  } else {
    head.removeAttribute("aria-sort");
  }
}

/** @template R @param {Column<R>[]} columns @param {R} row */
function rowOf(columns, row) {
  return h(
    "tr",
    {},
    columns.map(({ label, cell, isNumber, isHeading, isQuiet }) =>
      h(isHeading ? "th" : "td", {
        scope: isHeading ? "row" : undefined,
        class: isNumber ? "number" : undefined,
        "data-label": isQuiet || isHeading ? undefined : label,
      }, cell(row))
    ),
  );
}

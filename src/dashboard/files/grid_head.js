import { h } from "../core/dom.js";

/** @import { Column, Order } from "./order.js" */

/** @type {[Column, string][]} */
const COLUMNS = [["name", "Name"], ["size", "Size"], ["type", "Type"], ["modified", "Modified"]];

/**
 * The header of a grid: a checkbox for all rows, and the sortable columns.
 *
 * @param {{onSort: (column: Column) => void, onAll: (isOn: boolean) => void}} events
 */
export function createGridHead({ onSort, onAll }) {
  const all = h("input", { type: "checkbox", "aria-label": "Select all loaded" });
  all.addEventListener("change", () => onAll(all.checked));
  const heads = COLUMNS.map(([column, label]) =>
    h(
      "div",
      { role: "columnheader", class: `grid-${column}` },
      h("button", { type: "button", class: "sort", on: { click: () => onSort(column) } }, label),
    )
  );
  const element = h(
    "div",
    { role: "rowgroup", class: "grid-head" },
    h(
      "div",
      { role: "row", class: "grid-head-row", "aria-rowindex": "1" },
      h("div", { role: "columnheader", class: "grid-check" }, all),
      heads,
    ),
  );
  return {
    element,
    /** @param {Order} order */
    mark({ column, descending }) {
      for (const [index, [name]] of COLUMNS.entries()) {
        const way = descending ? "descending" : "ascending";
        if (name === column) heads[index]?.setAttribute("aria-sort", way);
        else heads[index]?.removeAttribute("aria-sort");
      }
    },
    /** @param {number} selected @param {number} loaded */
    count(selected, loaded) {
      all.checked = selected > 0 && selected === loaded;
      all.indeterminate = selected > 0 && selected < loaded;
    },
  };
}

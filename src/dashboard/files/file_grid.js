import { h } from "../core/dom.js";
import { createGridHead } from "./grid_head.js";
import { createGridRow } from "./grid_row.js";
import { followKeys } from "./grid_keys.js";
import { scrolledTo, visibleRows } from "./visible_rows.js";

/** @import { Column, Entry, Order } from "./order.js" */
/** @import { Selection } from "./selection.js" */

/**
 * What a grid tells of.
 *
 * @typedef {object} GridEvents
 * @property {(entry: Entry) => void} onOpen
 * @property {(column: Column) => void} onSort
 * @property {() => void} onNearEnd the last rows are in sight
 * @property {() => void} onSelect the selection has changed
 * @property {() => void} onDelete the key for it was pressed
 *
 * @typedef {object} GridOptions
 * @property {string} label
 * @property {string} folder what names are shown without
 * @property {Selection} selection
 * @property {(entry: Entry) => string} hrefOf the address of a folder
 * @property {GridEvents} events
 * @property {AbortSignal} signal
 */

/** So many rows before the end the next page is asked for. */
const NEAR = 200;

/**
 * A list of files and folders in which only the visible rows are elements, so that it is as quick with 100,000 of them
 * as with ten. It is a grid of which one row has the focus; the others are reached with the arrow keys.
 */
export class FileGrid {
  /** @type {readonly Entry[]} */
  rows = [];
  /** The row that has the focus, or gets it. */
  active = 0;
  element;

  #options;
  #head;
  #body = h("div", { role: "rowgroup", class: "grid-body" });
  /** What a row is measured by, whatever the person's font size is. */
  #probe = h("div", { class: "grid-probe", "aria-hidden": "true" });
  /** @type {Map<number, ReturnType<typeof createGridRow>>} the rows that are elements, by their index */
  #shown = new Map();
  #isAsked = false;

  /** @param {GridOptions} options */
  constructor(options) {
    this.#options = options;
    const { label, events, signal } = options;
    this.#head = createGridHead({
      onSort: events.onSort,
      onAll: (isOn) => this.#selectAll(isOn),
    });
    this.element = h(
      "div",
      { role: "grid", class: "grid", "aria-label": label, "aria-multiselectable": "true" },
      this.#head.element,
      this.#body,
    );
    this.#body.append(this.#probe);
    this.element.addEventListener("scroll", () => this.#renderSoon(), { passive: true });
    followKeys(this, this.#body, options);
    const watcher = new ResizeObserver(() => this.#renderSoon());
    watcher.observe(this.element);
    watcher.observe(this.#probe);
    signal.addEventListener("abort", () => watcher.disconnect(), { once: true });
  }

  /** How many rows are in sight. */
  get pageSize() {
    const { height, rowHeight } = this.#box();
    return Math.max(1, Math.floor(height / Math.max(rowHeight, 1)) - 1);
  }

  /**
   * @param {readonly Entry[]} rows
   * @param {{order: Order, isComplete: boolean}} state
   */
  show(rows, { order, isComplete }) {
    const focused = this.#body.contains(document.activeElement);
    const name = this.rows[this.active]?.name;
    if (rows !== this.rows && name !== undefined && rows[this.active]?.name !== name) {
      const index = rows.findIndex((row) => row.name === name);
      this.active = index === -1 ? Math.min(this.active, Math.max(0, rows.length - 1)) : index;
    }
    this.rows = rows;
    this.#head.mark(order);
    // A header row counts too; how many there are in all is known at the end only.
    this.element.setAttribute("aria-rowcount", isComplete ? String(rows.length + 1) : "-1");
    this.render();
    if (focused && rows.length > 0) this.focusRow(this.active);
  }

  /** Shows what is selected. */
  markSelected() {
    const { selection } = this.#options;
    for (const { entry, mark } of this.#shown.values()) mark(selection.has(entry.name));
    this.#head.count(selection.size, this.rows.length);
  }

  /** @param {number} index */
  focusRow(index) {
    this.active = Math.max(0, Math.min(index, this.rows.length - 1));
    const box = this.#box();
    const top = scrolledTo(box, this.active);
    if (top !== box.top) this.element.scrollTop = top;
    this.render();
    this.#shown.get(this.active)?.element.focus({ preventScroll: true });
  }

  scrollToTop() {
    this.active = 0;
    this.element.scrollTop = 0;
  }

  /** Makes the elements of the rows in sight, and takes the others away. The row with the focus always stays. */
  render() {
    this.#isAsked = false;
    const box = this.#box();
    const { first, end } = visibleRows(box, this.rows.length);
    this.#body.style.setProperty("height", `${this.rows.length * box.rowHeight}px`);
    const wanted = new Set([this.active]);
    for (let index = first; index < end; index++) wanted.add(index);
    for (const [index, row] of this.#shown) {
      if (wanted.has(index) && this.rows[index] === row.entry) continue;
      row.element.remove();
      this.#shown.delete(index);
    }
    for (const index of wanted) this.#place(index, box.rowHeight);
    this.markSelected();
    if (end > this.rows.length - NEAR) this.#options.events.onNearEnd();
  }

  /** @param {number} index @param {number} rowHeight */
  #place(index, rowHeight) {
    const entry = this.rows[index];
    if (entry === undefined) return;
    const { folder, hrefOf } = this.#options;
    const row = this.#shown.get(index) ?? createGridRow(entry, { folder, hrefOf });
    if (!this.#shown.has(index)) this.#insert(index, row.element);
    this.#shown.set(index, row);
    row.element.dataset["index"] = String(index);
    row.element.setAttribute("aria-rowindex", String(index + 2));
    row.element.tabIndex = index === this.active ? 0 : -1;
    row.element.style.setProperty("transform", `translateY(${index * rowHeight}px)`);
  }

  /**
   * Screen readers go through the rows in the order of the elements.
   *
   * @param {number} index @param {HTMLElement} element
   */
  #insert(index, element) {
    let next = Infinity;
    for (const other of this.#shown.keys()) if (other > index && other < next) next = other;
    this.#body.insertBefore(element, this.#shown.get(next)?.element ?? this.#probe);
  }

  #renderSoon() {
    if (this.#isAsked) return;
    this.#isAsked = true;
    requestAnimationFrame(() => this.render());
  }

  /** @param {boolean} isOn */
  #selectAll(isOn) {
    const { selection, events } = this.#options;
    if (isOn) selection.all(this.rows);
    else selection.clear();
    events.onSelect();
  }

  /** The part of the rows in sight: below the head, which stays. */
  #box() {
    const head = this.#head.element.offsetHeight;
    return {
      top: this.element.scrollTop,
      height: this.element.clientHeight - head,
      rowHeight: this.#probe.offsetHeight,
    };
  }
}

import { h } from "../core/dom.js";
import { createGridHead } from "./grid_head.js";
import { createGridRow } from "./grid_row.js";
import { handleKeys } from "./grid_keys.js";
import { scrolledTo, visibleRows } from "./visible_rows.js";

/** @import { Column, Entry, Order } from "./order.js" */
/** @import { Selection } from "./selection.js" */

/**
 * Events of a grid.
 *
 * @typedef {object} GridEvents
 * @property {(entry: Entry) => void} onOpen
 * @property {(column: Column) => void} onSort
 * @property {() => void} onNearEnd the last rows are visible
 * @property {() => void} onSelect the selection has changed
 * @property {() => void} onDelete the Delete key was pressed
 *
 * @typedef {object} GridOptions
 * @property {string} label
 * @property {string} folder prefix that is not shown
 * @property {Selection} selection
 * @property {(entry: Entry) => string} hrefOf the address of a folder
 * @property {GridEvents} events
 * @property {AbortSignal} signal
 */

/** Number of rows before the end at which the next page is loaded. */
const NEAR = 200;

/**
 * A virtual list of files and folders: only visible rows are elements, so 100,000 entries are as fast
 * as ten. It is an ARIA grid in which one row has the focus; arrow keys move it.
 */
export class FileGrid {
  /** @type {readonly Entry[]} */
  rows = [];
  /** The row that has or gets the focus. */
  active = 0;
  element;

  #options;
  #head;
  #body = h("div", { role: "rowgroup", class: "grid-body" });
  /** Measures the height of a row, which depends on the font size. */
  #probe = h("div", { class: "grid-probe", "aria-hidden": "true" });
  /** @type {Map<number, ReturnType<typeof createGridRow>>} the rows that are elements, by their index */
  #shown = new Map();
  #isRenderScheduled = false;

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
    handleKeys(this, this.#body, options);
    const watcher = new ResizeObserver(() => this.#renderSoon());
    watcher.observe(this.element);
    watcher.observe(this.#probe);
    signal.addEventListener("abort", () => watcher.disconnect(), { once: true });
  }

  /** Number of visible rows. */
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
    // The header row counts; the total is known at the end only.
    this.element.setAttribute("aria-rowcount", isComplete ? String(rows.length + 1) : "-1");
    this.render();
    if (focused && rows.length > 0) this.focusRow(this.active);
  }

  /** Updates the selection marks. */
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

  /** Creates the elements of visible rows and removes the others. The focused row always stays. */
  render() {
    this.#isRenderScheduled = false;
    const box = this.#box();
    const { first, end } = visibleRows(box, this.rows.length);
    this.#body.style.setProperty("height", `${this.rows.length * box.rowHeight}px`);
    const rendered = new Set([this.active]);
    for (let index = first; index < end; index++) rendered.add(index);
    for (const [index, row] of this.#shown) {
      if (rendered.has(index) && this.rows[index] === row.entry) continue;
      row.element.remove();
      this.#shown.delete(index);
    }
    for (const index of rendered) this.#place(index, box.rowHeight);
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
   * Screen readers read the rows in the order of the elements.
   *
   * @param {number} index @param {HTMLElement} element
   */
  #insert(index, element) {
    let next = Infinity;
    for (const other of this.#shown.keys()) if (other > index && other < next) next = other;
    this.#body.insertBefore(element, this.#shown.get(next)?.element ?? this.#probe);
  }

  #renderSoon() {
    if (this.#isRenderScheduled) return;
    this.#isRenderScheduled = true;
    requestAnimationFrame(() => this.render());
  }

  /** @param {boolean} isOn */
  #selectAll(isOn) {
    const { selection, events } = this.#options;
    if (isOn) selection.all(this.rows);
    else selection.clear();
    events.onSelect();
  }

  /** The visible part below the sticky header. */
  #box() {
    const head = this.#head.element.offsetHeight;
    return {
      top: this.element.scrollTop,
      height: this.element.clientHeight - head,
      rowHeight: this.#probe.offsetHeight,
    };
  }
}

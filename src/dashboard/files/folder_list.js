import { fill, h } from "../core/dom.js";
import { links } from "../core/links.js";
import { FileGrid } from "./file_grid.js";
import { Listing } from "./listing.js";
import { listStatus } from "./list_status.js";
import { pagesOf } from "./listed_page.js";
import { Selection } from "./selection.js";

/** @import { Api } from "../core/api.js" */
/** @import { Column, Entry } from "./order.js" */
/** @import { Search } from "./search_field.js" */

/**
 * The list of a folder, or of a search in it, with its status line.
 */
export class FolderList {
  element;
  selection = new Selection();

  #api;
  #place;
  #options;
  #signal;
  /** @type {Search} */
  #search = { text: "", isWholeDrive: false };
  #status = h("p", { role: "status", class: "list-status" });
  #buttons = h("span", { class: "actions" });
  #empty = h("div", { class: "empty", hidden: true });
  /** @type {FileGrid} */
  #grid;
  /** @type {Listing} */
  #listing;
  /** Aborts the loading of the previous list. */
  #ending = new AbortController();

  /**
   * @param {Api} api
   * @param {{project: string, drive: string, folder: string}} place
   * @param {object} options
   * @param {(entry: Entry) => void} options.onOpen
   * @param {() => void} options.onSelect
   * @param {() => void} options.onDelete
   * @param {() => Node} options.whatToDo content of an empty folder
   * @param {AbortSignal} signal
   */
  constructor(api, place, options, signal) {
    this.#api = api;
    this.#place = place;
    this.#options = options;
    this.#signal = signal;
    this.#grid = this.#createGrid();
    this.#listing = this.#createListing();
    const foot = h("div", { class: "list-foot" }, this.#status, this.#buttons);
    this.element = h("div", { class: "list" }, this.#grid.element, this.#empty, foot);
    this.#listing.loadMore();
  }

  get rows() {
    return this.#listing.rows;
  }

  /** The prefix of the list, and whether it includes subfolders. */
  get query() {
    const { text, isWholeDrive } = this.#search;
    // A recursive list without a prefix would list the whole drive.
    const isDeep = isWholeDrive && text !== "";
    return { prefix: (isDeep ? "" : this.#place.folder) + text, recursive: isDeep };
  }

  /** @param {Search} search */
  search(search) {
    if (search.text === this.#search.text && search.isWholeDrive === this.#search.isWholeDrive) {
      return;
    }
    this.#search = search;
    this.reload();
  }

  reload() {
    this.#ending.abort();
    this.#ending = new AbortController();
    this.selection.clear();
    const grid = this.#createGrid();
    this.#grid.element.replaceWith(grid.element);
    this.#grid = grid;
    this.#listing = this.#createListing();
    this.#options.onSelect();
    this.#listing.loadMore();
  }

  /** @param {readonly Entry[]} entries new or changed ones */
  put(entries) {
    this.#listing.put(entries);
  }

  /** @param {ReadonlySet<string>} names of deleted files */
  remove(names) {
    this.selection.remove(names);
    this.#listing.remove(names);
    this.#options.onSelect();
  }

  clearSelection() {
    this.selection.clear();
    this.markSelected();
    this.#options.onSelect();
  }

  selectAll() {
    this.selection.all(this.rows);
    this.markSelected();
    this.#options.onSelect();
  }

  markSelected() {
    this.#grid.markSelected();
  }

  focus() {
    if (this.rows.length > 0) this.#grid.focusRow(this.#grid.active);
  }

  #createGrid() {
    const { project, drive, folder } = this.#place;
    const { onOpen, onSelect, onDelete } = this.#options;
    return new FileGrid({
      label: `Files in ${folder === "" ? drive : folder}`,
      folder: this.query.recursive ? "" : folder,
      selection: this.selection,
      hrefOf: ({ name }) => links.files(project, drive, name),
      signal: AbortSignal.any([this.#signal, this.#ending.signal]),
      events: {
        onOpen,
        onDelete,
        onSort: (column) => this.#sort(column),
        onNearEnd: () => this.#loadMore(),
        onSelect: () => {
          this.markSelected();
          onSelect();
        },
      },
    });
  }

  #createListing() {
    /** @type {Listing} */
    const listing = new Listing(pagesOf(this.#api, this.#place, this.query), {
      onChange: () => listing === this.#listing && this.#render(),
      signal: AbortSignal.any([this.#signal, this.#ending.signal]),
    });
    return listing;
  }

  /** Loads the first page; further pages load on scrolling. */
  #loadMore() {
    if (this.#listing.loaded > 0 && this.#listing.problem === "") this.#listing.loadMore();
  }

  /** @param {Column} column */
  #sort(column) {
    const { order, pendingOrder } = this.#listing;
    const present = pendingOrder ?? order;
    const descending = present.column === column && !present.descending;
    this.#listing.sortBy({ column, descending }).then(() => this.#grid.scrollToTop());
  }

  #render() {
    const listing = this.#listing;
    const isEmpty = listing.isComplete && listing.loaded === 0;
    const { isComplete, order, rows } = listing;
    this.#grid.element.hidden = isEmpty || listing.loaded === 0;
    this.#grid.show(rows, { order, isComplete });
    this.#empty.hidden = !isEmpty;
    if (isEmpty) fill(this.#empty, this.#emptyText());
    const text = listStatus(listing);
    if (this.#status.textContent !== text) this.#status.textContent = text;
    this.#showButtons(listing);
  }

  /** @param {Listing} listing */
  #showButtons({ pendingOrder, problem }) {
    const label = pendingOrder !== undefined ? "Cancel sorting" : problem !== "" ? "Try again" : "";
    if (this.#buttons.textContent === label) return;
    const run = () =>
      pendingOrder === undefined ? this.#listing.loadMore() : this.#listing.cancelSort();
    const button = h("button", { type: "button", class: "small", on: { click: run } }, label);
    fill(this.#buttons, label === "" ? null : button);
  }

  #emptyText() {
    const { text } = this.#search;
    if (text === "") return this.#options.whatToDo();
    const { recursive } = this.query;
    const where = recursive ? "No path in this drive" : "No name in this folder";
    return h("p", {}, `${where} begins with “${text}”. Upper and lower case differ.`);
  }
}

import { MAX_ROWS } from "./limits.js";
import { compareNames, isServerOrder, SERVER_ORDER, sorted } from "./order.js";
import { sentenceOf } from "./retry.js";

/**
 * @typedef {import("./order.js").Entry} Entry
 * @typedef {import("./order.js").Order} Order
 *
 * Loads the page of a list after a name. `last` is set if there is a further page.
 *
 * @typedef {(last: string, signal: AbortSignal) => Promise<{entries: Entry[], last?: string}>} LoadPage
 */

/**
 * The loaded entries of a folder or of a search. They are loaded page by page in the
 * server's order of names; for another order all of them are loaded first.
 */
export class Listing {
  /** The rows in display order. @type {readonly Entry[]} */
  rows = [];
  /** The order of the rows. @type {Order} */
  order = SERVER_ORDER;
  /** The order that takes effect once all entries are loaded. @type {Order | undefined} */
  pendingOrder;
  isComplete = false;
  isLoading = false;
  /** Why the last page could not be loaded. */
  problem = "";

  /** @type {Entry[]} in the server's order */
  #entries = [];
  #last = "";
  #load;
  #onChange;
  #signal;

  /**
   * @param {LoadPage} load
   * @param {object} options
   * @param {() => void} options.onChange
   * @param {AbortSignal} options.signal ends all loading
   */
  constructor(load, { onChange, signal }) {
    this.#load = load;
    this.#onChange = onChange;
    this.#signal = signal;
  }

  /** Number of loaded entries. */
  get loaded() {
    return this.#entries.length;
  }

  /** Whether there are more entries than a list can hold. */
  get isTruncated() {
    return !this.isComplete && this.#entries.length >= MAX_ROWS;
  }

  /** Loads the next page, unless one is loading or there is none. Never throws: see `problem`. */
  async loadMore() {
    if (this.isLoading || this.isComplete || this.isTruncated || this.#signal.aborted) return;
    this.isLoading = true;
    this.problem = "";
    this.#onChange();
    try {
      const { entries, last } = await this.#load(this.#last, this.#signal);
      this.#append(entries, last);
    } catch (error) {
      if (this.#signal.aborted) return;
      this.problem = sentenceOf(error);
    } finally {
      this.isLoading = false;
    }
    this.#onChange();
  }

  /**
   * Sorts the rows, after loading all of them. Another call, or `cancelSort`, cancels it.
   *
   * @param {Order} order
   */
  async sortBy(order) {
    this.pendingOrder = order;
    if (isServerOrder(order)) return this.#arrange(order);
    this.#onChange();
    while (this.pendingOrder === order && !this.isComplete && !this.isTruncated) {
      if (this.isLoading) await this.#pause();
      else await this.loadMore();
      if (this.#signal.aborted) return;
      if (this.problem !== "") return this.cancelSort();
    }
    if (this.pendingOrder === order) this.#arrange(order);
  }

  /** Cancels sorting and keeps the present order. */
  cancelSort() {
    this.pendingOrder = undefined;
    this.#onChange();
  }

  /** Removes deleted names. @param {ReadonlySet<string>} names */
  remove(names) {
    this.#entries = this.#entries.filter(({ name }) => !names.has(name));
    this.#arrange(this.order, this.pendingOrder);
  }

  /**
   * Inserts new or changed entries. Entries after the loaded ones come with their page.
   *
   * @param {readonly Entry[]} entries
   */
  put(entries) {
    // A copy, so that views notice the change.
    this.#entries = [...this.#entries];
    for (const entry of entries) {
      const index = placeOf(this.#entries, entry.name);
      if (this.#entries[index]?.name === entry.name) this.#entries[index] = entry;
      else if (this.isComplete || index < this.#entries.length) {
        this.#entries.splice(index, 0, entry);
      }
    }
    this.#arrange(this.order, this.pendingOrder);
  }

  /** @param {Order} order @param {Order} [pendingOrder] */
  #arrange(order, pendingOrder) {
    this.order = order;
    this.pendingOrder = pendingOrder;
    this.rows = isServerOrder(order) ? this.#entries : sorted(this.#entries, order);
    this.#onChange();
  }

  /** @param {readonly Entry[]} entries @param {string} [last] */
  #append(entries, last) {
    for (const entry of entries) this.#entries.push(entry);
    this.isComplete = last === undefined;
    this.#last = last ?? this.#last;
    this.rows = isServerOrder(this.order) ? this.#entries : sorted(this.#entries, this.order);
  }

  /** Another call is loading a page: wait for it. */
  async #pause() {
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

/**
 * The position of a name in the server's order, present or not.
 *
 * @param {readonly Entry[]} entries
 * @param {string} name
 */
function placeOf(entries, name) {
  let [low, high] = [0, entries.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (compareNames(entries[middle]?.name ?? "", name) < 0) low = middle + 1;
    else high = middle;
  }
  return low;
}

import { MAX_ROWS } from "./limits.js";
import { compareNames, isServerOrder, SERVER_ORDER, sorted } from "./order.js";
import { sentenceOf } from "./retry.js";

/**
 * @typedef {import("./order.js").Entry} Entry
 * @typedef {import("./order.js").Order} Order
 *
 * Gives the page of a list behind a name, and the name to go on behind where there is more.
 *
 * @typedef {(last: string, signal: AbortSignal) => Promise<{entries: Entry[], last?: string}>} LoadPage
 */

/**
 * What a list shows: the entries of a folder or of a search as far as they have come. They come page by page in the
 * server's order of names; for another order all of them are fetched first.
 */
export class Listing {
  /** The rows in the order shown. @type {readonly Entry[]} */
  rows = [];
  /** The order of the rows. @type {Order} */
  order = SERVER_ORDER;
  /** The order that is being prepared, while the rest comes. @type {Order | undefined} */
  wanted;
  isComplete = false;
  isLoading = false;
  /** Why the last page did not come. */
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

  /** How many entries have come. */
  get loaded() {
    return this.#entries.length;
  }

  /** Whether there are more entries than a list can hold. */
  get isCut() {
    return !this.isComplete && this.#entries.length >= MAX_ROWS;
  }

  /** Fetches the next page, unless one is on its way or there is none. It never throws: see `problem`. */
  async loadMore() {
    if (this.isLoading || this.isComplete || this.isCut || this.#signal.aborted) return;
    this.isLoading = true;
    this.problem = "";
    this.#onChange();
    try {
      const { entries, last } = await this.#load(this.#last, this.#signal);
      this.#take(entries, last);
    } catch (error) {
      if (this.#signal.aborted) return;
      this.problem = sentenceOf(error);
    } finally {
      this.isLoading = false;
    }
    this.#onChange();
  }

  /**
   * Orders the rows; where some have not come yet, they are fetched first. Another call, or `cancelSort`, ends that.
   *
   * @param {Order} order
   */
  async sortBy(order) {
    this.wanted = order;
    if (isServerOrder(order)) return this.#arrange(order);
    this.#onChange();
    while (this.wanted === order && !this.isComplete && !this.isCut) {
      if (this.isLoading) await this.#pause();
      else await this.loadMore();
      if (this.#signal.aborted) return;
      if (this.problem !== "") return this.cancelSort();
    }
    if (this.wanted === order) this.#arrange(order);
  }

  /** Keeps the order that there is. */
  cancelSort() {
    this.wanted = undefined;
    this.#onChange();
  }

  /** Takes names out that are gone. @param {ReadonlySet<string>} names */
  remove(names) {
    this.#entries = this.#entries.filter(({ name }) => !names.has(name));
    this.#arrange(this.order, this.wanted);
  }

  /**
   * Puts entries in that are new or have changed. Those behind what has come so far come by themselves.
   *
   * @param {readonly Entry[]} entries
   */
  put(entries) {
    // A copy: whoever shows the rows sees that they are others.
    this.#entries = [...this.#entries];
    for (const entry of entries) {
      const index = placeOf(this.#entries, entry.name);
      if (this.#entries[index]?.name === entry.name) this.#entries[index] = entry;
      else if (this.isComplete || index < this.#entries.length) {
        this.#entries.splice(index, 0, entry);
      }
    }
    this.#arrange(this.order, this.wanted);
  }

  /** @param {Order} order @param {Order} [wanted] */
  #arrange(order, wanted) {
    this.order = order;
    this.wanted = wanted;
    this.rows = isServerOrder(order) ? this.#entries : sorted(this.#entries, order);
    this.#onChange();
  }

  /** @param {readonly Entry[]} entries @param {string} [last] */
  #take(entries, last) {
    for (const entry of entries) this.#entries.push(entry);
    this.isComplete = last === undefined;
    this.#last = last ?? this.#last;
    this.rows = isServerOrder(this.order) ? this.#entries : sorted(this.#entries, this.order);
  }

  /** Another one fetches a page: it tells when it has come. */
  async #pause() {
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

/**
 * Where a name stands, or would stand, in the server's order.
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

/** The selected names of a list. A range starts at the row that was selected last. */
export class Selection {
  /** @type {Set<string>} */
  #names = new Set();
  /** @type {string | undefined} */
  #anchor;

  get size() {
    return this.#names.size;
  }

  /** @returns {string[]} */
  get names() {
    return [...this.#names];
  }

  /** @param {string} name */
  has(name) {
    return this.#names.has(name);
  }

  /** @param {string} name */
  toggle(name) {
    if (!this.#names.delete(name)) this.#names.add(name);
    this.#anchor = name;
  }

  /**
   * Selects the rows from the last selected one to this one.
   *
   * @param {string} name
   * @param {readonly {name: string}[]} rows in display order
   */
  extendTo(name, rows) {
    const to = rows.findIndex((row) => row.name === name);
    const from = this.#anchor === undefined
      ? to
      : rows.findIndex((row) => row.name === this.#anchor);
    if (to === -1) return;
    const start = Math.min(from === -1 ? to : from, to);
    const end = Math.max(from, to);
    for (const row of rows.slice(start, end + 1)) this.#names.add(row.name);
    this.#anchor ??= name;
  }

  /** @param {readonly {name: string}[]} rows */
  all(rows) {
    for (const { name } of rows) this.#names.add(name);
  }

  clear() {
    this.#names.clear();
    this.#anchor = undefined;
  }

  /** Removes deleted names. @param {Iterable<string>} names */
  remove(names) {
    for (const name of names) this.#names.delete(name);
  }
}

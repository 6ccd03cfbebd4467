/** Counts values by the first bound that they do not exceed. */
export class Histogram {
  sum = 0;
  count = 0;
  readonly #bounds: readonly number[];
  /** One for each bound, and one for what is above all of them. */
  readonly #counts: number[];

  /** @param bounds In ascending order. */
  constructor(bounds: readonly number[]) {
    this.#bounds = bounds;
    this.#counts = new Array(bounds.length + 1).fill(0);
  }

  observe(value: number): void {
    this.sum += value;
    this.count++;
    let index = 0;
    // Few bounds, and most values are small: quicker than a search.
    while (index < this.#bounds.length && value > (this.#bounds[index] ?? Infinity)) index++;
    this.#counts[index] = (this.#counts[index] ?? 0) + 1;
  }

  /** How many values do not exceed each bound, and at last all. */
  *cumulative(): Generator<[bound: number, count: number]> {
    let sum = 0;
    for (const [index, count] of this.#counts.entries()) {
      sum += count;
      yield [this.#bounds[index] ?? Infinity, sum];
    }
  }
}

/** Lets one piece of work at a time run for a key, in the order of arrival. Other keys don't wait. */
export class KeyedMutex {
  readonly #tails = new Map<string, Promise<void>>();

  /** Runs the work when all earlier work on the key has ended, and gives what it gives. */
  async run<T>(key: string, work: () => Promise<T>): Promise<T> {
    const before = this.#tails.get(key);
    const { promise: done, resolve } = Promise.withResolvers<void>();
    this.#tails.set(key, done);
    try {
      await before;
      return await work();
    } finally {
      if (this.#tails.get(key) === done) this.#tails.delete(key);
      resolve();
    }
  }
}

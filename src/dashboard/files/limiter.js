/** Limits the number of concurrent actions; the others wait in order. */
export class Limiter {
  /** @type {(() => void)[]} */
  #waiting = [];
  #free;

  /** @param {number} atOnce */
  constructor(atOnce) {
    this.#free = atOnce;
  }

  /**
   * @template T
   * @param {() => Promise<T>} action
   * @param {AbortSignal} [signal] cancels an action that has not started
   * @returns {Promise<T>}
   */
  async run(action, signal) {
    if (this.#free > 0) this.#free--;
    else await new Promise((resolve) => this.#waiting.push(() => resolve(undefined)));
    try {
      signal?.throwIfAborted();
      return await action();
    } finally {
      const next = this.#waiting.shift();
      if (next === undefined) this.#free++;
      else next();
    }
  }
}

/**
 * Runs an action for every item, with limited concurrency. After a failure no further action starts; running ones
 * finish.
 *
 * @template T
 * @param {readonly T[]} items
 * @param {number} atOnce
 * @param {(item: T) => Promise<void>} action
 * @returns {Promise<void>}
 * @throws the first error.
 */
export async function eachOf(items, atOnce, action) {
  const queue = items.values();
  /** @type {unknown[]} */
  const problems = [];
  const work = async () => {
    for (const item of queue) {
      await action(item).catch((error) => problems.push(error));
      if (problems.length > 0) return;
    }
  };
  await Promise.all(Array.from({ length: Math.min(atOnce, items.length) }, work));
  if (problems.length > 0) throw problems[0];
}

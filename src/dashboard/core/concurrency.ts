/** Requests at once: browsers open six connections to a server, of which the stream of hints and lists need some. */
export const REQUESTS_AT_ONCE = 4;

/** Limits the number of concurrent requests; the others wait in order. */
export class Limiter {
  readonly #waiting: (() => void)[] = [];
  #free: number;

  constructor(size: number) {
    this.#free = size;
  }

  /** @param signal Cancels an action that has not started. */
  async run<T>(action: () => Promise<T>, signal: AbortSignal): Promise<T> {
    if (this.#free > 0) this.#free--;
    else await new Promise<void>((resolve) => this.#waiting.push(resolve));
    try {
      signal.throwIfAborted();
      return await action();
    } finally {
      const next = this.#waiting.shift();
      if (next === undefined) this.#free++;
      else next();
    }
  }
}

/**
 * Runs an action for every item, a few at once. Returns the results in the order of the items. After a failure no other
 * starts, and those that run are awaited.
 *
 * @throws The first error.
 */
export async function inParallel<T, R>(
  items: readonly T[],
  action: (item: T) => Promise<R>,
): Promise<R[]> {
  const results: R[] = [];
  const problems: unknown[] = [];
  const queue = items.entries();
  const work = async () => {
    for (const [index, item] of queue) {
      if (problems.length > 0) return;
      try {
        results[index] = await action(item);
      } catch (error) {
        problems.push(error);
      }
    }
  };
  await Promise.all(Array.from({ length: REQUESTS_AT_ONCE }, work));
  if (problems.length > 0) throw problems[0];
  return results;
}

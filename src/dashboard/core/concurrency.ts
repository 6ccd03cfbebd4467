/** Requests at once: browsers open six connections to a server, of which the stream of hints and lists need some. */
export const REQUESTS_AT_ONCE = 4;

/** Requests at once that take a moment, such as small files. */
export const SHORT_REQUESTS_AT_ONCE = shortRequests(protocolOfPage());

/**
 * Returns how many short requests are sent at once: one more than others, as lists wait for none of them for long. HTTP/2
 * and HTTP/3, which a proxy may offer, carry many over one connection.
 */
export function shortRequests(protocol: string): number {
  return /^h[23]/.test(protocol) ? 12 : REQUESTS_AT_ONCE + 1;
}

/** The protocol that the page came with, such as `h2`; empty if the browser does not tell. */
function protocolOfPage(): string {
  const [page] = performance.getEntriesByType("navigation");
  return (page as Partial<PerformanceNavigationTiming> | undefined)?.nextHopProtocol ?? "";
}

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

import { ApiError } from "../../core/api_error.ts";

/** The first and the longest wait before a request is sent again, in milliseconds. */
const FIRST_WAIT = 1000;
const LONGEST_WAIT = 30_000;

/** Attempts at a request that the server fails to handle: the reason may be the request itself. */
const FAILED_ATTEMPTS = 5;

/** Limits the number of concurrent actions; the others wait in order. */
export class Limiter {
  readonly #waiting: (() => void)[] = [];
  #free: number;

  constructor(atOnce: number) {
    this.#free = atOnce;
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

/** Runs an action for every item, a few at once. After a failure no other starts. @throws The first error. */
export async function eachOf<T>(
  items: Iterable<T>,
  atOnce: number,
  action: (item: T) => Promise<unknown>,
): Promise<void> {
  const queue = items[Symbol.iterator]();
  const problems: unknown[] = [];
  const work = async () => {
    while (problems.length === 0) {
      const { value, done } = queue.next();
      if (done) return;
      await action(value).catch((error) => problems.push(error));
    }
  };
  await Promise.all(Array.from({ length: atOnce }, work));
  if (problems.length > 0) throw problems[0];
}

/**
 * Returns how long to wait before a request is sent again, in milliseconds; `undefined` if that is of no use.
 *
 * @param attempt The number of attempts so far.
 */
export function waitAfter(error: unknown, attempt: number): number | undefined {
  if (!(error instanceof ApiError) || !error.isTemporary) return undefined;
  if (error.status === 500 && attempt >= FAILED_ATTEMPTS) return undefined;
  const growing = Math.min(LONGEST_WAIT, FIRST_WAIT * 2 ** (attempt - 1));
  return Math.max(growing, (error.retryAfter ?? 0) * 1000);
}

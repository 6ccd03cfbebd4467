import { isTemporary, type KvdriveError } from "./error.ts";

/** Milliseconds for which a request is repeated, unless the caller says otherwise. */
const DEFAULT_RETRY_TIME = 30_000;

/** The same before the first answer: a server that was never reached is more likely misspelt than restarting. */
const FIRST_CONTACT_TIME = 3000;

/** The shortest and the longest pause between two attempts, in milliseconds. */
const MIN_DELAY = 250;
const MAX_DELAY = 10_000;

/** How an operation is repeated. */
export interface RetryOptions {
  /** Milliseconds for which it is repeated, counted from its last progress. */
  retryFor?: number | undefined;
  /** Ends the repetition. */
  signal?: AbortSignal | undefined;
  /** Says which failures the operation is repeated after, among those that may pass; all unless given. */
  mayRepeat?: (error: KvdriveError) => boolean;
}

/** Repeats operations that failed temporarily, with growing pauses. */
export class Retrier {
  #wasReached = false;

  /** @param retryFor Milliseconds for which an operation is repeated, counted from its last progress. */
  constructor(private readonly retryFor: number = DEFAULT_RETRY_TIME) {}

  /**
   * Runs an operation until it succeeds.
   *
   * @param work Calls `onProgress` to restart the time limit; called again, it resumes where it ended.
   * @throws the last failure, if it may not pass or there was no progress for `retryFor`.
   */
  async run<T>(
    work: (onProgress: () => void) => Promise<T>,
    { retryFor = this.retryFor, signal, mayRepeat = () => true }: RetryOptions = {},
  ): Promise<T> {
    let failingSince: number | undefined;
    let tries = 0;
    const onProgress = () => {
      failingSince = undefined;
      tries = 0;
      this.#wasReached = true;
    };
    for (;;) {
      try {
        const result = await work(onProgress);
        onProgress();
        return result;
      } catch (error) {
        if (!isTemporary(error)) throw error;
        if (error.status > 0) this.#wasReached = true;
        if (!mayRepeat(error)) throw error;
        failingSince ??= performance.now();
        const isFirstContact = !this.#wasReached && retryFor !== Infinity;
        const time = isFirstContact ? Math.min(retryFor, FIRST_CONTACT_TIME) : retryFor;
        const wait = Math.max(error.retryAfter ?? 0, delayOf(tries++));
        if (performance.now() - failingSince + wait > time) throw error;
        await pause(wait, signal);
      }
    }
  }
}

/** Returns a doubling pause with jitter, so that many clients do not come back at the same moment. */
function delayOf(tries: number): number {
  const longest = Math.min(MAX_DELAY, MIN_DELAY * 2 ** Math.min(tries, 10));
  return longest * (0.5 + Math.random() / 2);
}

/** @throws the reason of the signal, if it is aborted first. */
function pause(milliseconds: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const onAbort = () => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", onAbort);
      resolve();
    }, milliseconds);
    if (signal?.aborted) onAbort();
    else signal?.addEventListener("abort", onAbort, { once: true });
  });
}

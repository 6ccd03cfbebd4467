import { RetriesExhausted, TemporaryFailure, Unreachable } from "./errors.ts";

/** Milliseconds for which an operation is repeated, unless configured. */
export const DEFAULT_RETRY_TIME = 5 * 60_000;

/** The same before the first answer: a server that was never reached is more likely misspelt than restarting. */
const FIRST_CONTACT_TIME = 3000;

/** The shortest and the longest pause between two attempts, in milliseconds. */
const RETRY_MIN_DELAY = 250;
const RETRY_MAX_DELAY = 10_000;

export interface RetryOptions {
  /** Milliseconds for which an operation is repeated, counted from its last progress. */
  retryFor?: number;
  /** Receives a sentence for the user when waiting begins: once until the next success. */
  onWait?: (sentence: string) => void;
  now?: () => number;
  pause?: (milliseconds: number) => Promise<void>;
  /** From 0 to 1. */
  random?: () => number;
}

/**
 * Repeats operations that failed temporarily, with growing pauses. (Not `@std/async/retry`, which counts attempts: it knows
 * no time limit, no progress, and no pause that the server asks for.)
 */
export class Retrier {
  readonly #options: Required<RetryOptions>;
  #wasReached = false;
  #isWaitReported = false;

  constructor(options: RetryOptions = {}) {
    this.#options = {
      retryFor: DEFAULT_RETRY_TIME,
      onWait: () => {},
      now: () => performance.now(),
      pause: (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds)),
      random: Math.random,
      ...options,
    };
  }

  /**
   * Runs an operation until it succeeds, or fails with anything but a `TemporaryFailure`.
   *
   * @param work Calls `onProgress` to restart the time limit; called again, it resumes where it ended.
   * @throws {RetriesExhausted} if it made no progress for `retryFor`.
   */
  async run<T>(work: (onProgress: () => void) => Promise<T>): Promise<T> {
    const { now, pause } = this.#options;
    let failingSince: number | undefined;
    let tries = 0;
    const onProgress = () => {
      failingSince = undefined;
      tries = 0;
      this.#wasReached = true;
      this.#isWaitReported = false;
    };
    for (;;) {
      try {
        const result = await work(onProgress);
        onProgress();
        return result;
      } catch (error) {
        if (!(error instanceof TemporaryFailure)) throw error;
        if (!(error instanceof Unreachable)) this.#wasReached = true;
        failingSince ??= now();
        const wait = Math.max(error.wait, this.#delay(tries++));
        const left = failingSince + this.#timeLimit - now();
        if (wait > left) throw this.#exhausted(error);
        this.#reportWait(error);
        await pause(wait);
      }
    }
  }

  get #timeLimit(): number {
    const { retryFor } = this.#options;
    return this.#wasReached ? retryFor : Math.min(retryFor, FIRST_CONTACT_TIME);
  }

  /** Returns a doubling pause with jitter, so that many clients do not come back at the same moment. */
  #delay(tries: number): number {
    const longest = Math.min(RETRY_MAX_DELAY, RETRY_MIN_DELAY * 2 ** Math.min(tries, 10));
    return longest * (0.5 + this.#options.random() / 2);
  }

  #exhausted(error: TemporaryFailure): RetriesExhausted {
    const advice = this.#wasReached
      ? "Gave up retrying: run the same command again to resume"
      : "Is the server running? Set its address with --url or KVDRIVE_URL";
    return new RetriesExhausted(joinSentences(error.message, advice), { cause: error });
  }

  #reportWait(error: TemporaryFailure): void {
    if (this.#isWaitReported || !this.#wasReached) return;
    this.#isWaitReported = true;
    const seconds = Math.round(this.#options.retryFor / 1000);
    const notice = `Retrying for up to ${seconds} seconds`;
    this.#options.onWait(joinSentences(error.message, notice));
  }
}

/** Joins two sentences, of which the first may be a question. */
function joinSentences(first: string, second: string): string {
  return first.endsWith("?") ? `${first} ${second}` : `${first}. ${second}`;
}

import { isTemporary, type KvdriveError } from "./error.ts";

/** Milliseconds for which a request is repeated, unless the caller says otherwise. */
const DEFAULT_RETRY_TIME = 30_000;

/** The same before the first answer: a server that was never reached is more likely misspelt than restarting. */
const FIRST_CONTACT_TIME = 3000;

/** The shortest and the longest pause between two attempts, in milliseconds. */
const MIN_DELAY = 250;
const MAX_DELAY = 10_000;

export interface RetrierOptions {
  /** Milliseconds for which an operation is repeated, counted from its first failure. */
  retryFor?: number | undefined;
  /** Reports whether a failure may pass, so that the operation is worth repeating. */
  isTemporary?: (error: unknown) => error is KvdriveError;
  /** Receives the failure when waiting begins: once until the next success. */
  onWait?: (error: KvdriveError) => void;
  /** Returns the error for a failure that did not pass in time. */
  giveUp?: (error: KvdriveError, wasReached: boolean) => KvdriveError;
  now?: () => number;
  pause?: (milliseconds: number, signal?: AbortSignal) => Promise<void>;
  /** From 0 to 1. */
  random?: () => number;
}

/** How one operation is repeated. */
export interface RunOptions {
  /** Milliseconds for which it is repeated. */
  retryFor?: number | undefined;
  /** Ends the repetition. */
  signal?: AbortSignal | undefined;
  /** Whether the operation may be repeated after this failure. */
  mayRepeat?: (error: unknown) => boolean;
}

/**
 * Repeats operations that failed temporarily, with growing pauses. (Not `@std/async/retry`, which counts attempts: it knows
 * no time limit, no progress, and no pause that the server asks for.)
 */
export class Retrier {
  readonly #retryFor: number;
  readonly #options: Required<Omit<RetrierOptions, "retryFor">>;
  #wasReached = false;
  #isWaiting = false;

  constructor({ retryFor = DEFAULT_RETRY_TIME, ...options }: RetrierOptions = {}) {
    this.#retryFor = retryFor;
    this.#options = {
      isTemporary,
      onWait: () => {},
      giveUp: (error) => error,
      now: () => performance.now(),
      pause,
      random: Math.random,
      ...options,
    };
  }

  /** Is called for every answer, even one that breaks off. */
  noteAnswer(): void {
    this.#wasReached = true;
  }

  /**
   * Runs an operation until it succeeds.
   *
   * @throws the last failure, if it will not pass or there was no progress for `retryFor`.
   */
  async run<T>(
    work: () => Promise<T>,
    { retryFor = this.#retryFor, signal, mayRepeat = () => true }: RunOptions = {},
  ): Promise<T> {
    const { isTemporary, giveUp, now, pause } = this.#options;
    let failingSince: number | undefined;
    let tries = 0;
    for (;;) {
      try {
        const result = await work();
        this.#isWaiting = false;
        return result;
      } catch (error) {
        if (!isTemporary(error) || !mayRepeat(error)) throw error;
        failingSince ??= now();
        const wait = Math.max(error.retryAfter ?? 0, this.#delay(tries++));
        const isOver = wait > failingSince + this.#limit(retryFor) - now();
        if (isOver) throw giveUp(error, this.#wasReached);
        this.#reportWait(error);
        await pause(wait, signal);
      }
    }
  }

  #limit(retryFor: number): number {
    const isUnlimited = this.#wasReached || retryFor === Infinity;
    return isUnlimited ? retryFor : Math.min(retryFor, FIRST_CONTACT_TIME);
  }

  /** Returns a doubling pause with jitter, so that many clients do not come back at the same moment. */
  #delay(tries: number): number {
    const longest = Math.min(MAX_DELAY, MIN_DELAY * 2 ** Math.min(tries, 10));
    return longest * (0.5 + this.#options.random() / 2);
  }

  #reportWait(error: KvdriveError): void {
    if (this.#isWaiting || !this.#wasReached) return;
    this.#isWaiting = true;
    this.#options.onWait(error);
  }
}

/** @throws the reason of the signal, if it is aborted first. */
export function pause(milliseconds: number, signal?: AbortSignal): Promise<void> {
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

import { MINUTE, SECOND } from "../rules/units.ts";
import { RetriesExhausted, TemporaryFailure, Unreachable } from "./errors.ts";

/** How long a client tries again what fails, unless configured, and what has never been reached; and its pauses. */
export const DEFAULT_RETRY_TIME = 5 * MINUTE;

const FIRST_CONTACT_TIME = 3 * SECOND;

const RETRY_MIN_DELAY = 250;

const RETRY_MAX_DELAY = 10 * SECOND;

/** What trying again needs to know. */
export interface RetryOptions {
  /** How long something is tried again, in milliseconds, since it last went on. */
  retryFor?: number;
  /** Told once why somebody waits, until something goes well again. */
  onWait?: (sentence: string) => void;
  now?: () => number;
  pause?: (milliseconds: number) => Promise<void>;
  /** From 0 to 1. */
  random?: () => number;
}

/** Does again what failed for a while, after pauses that grow. */
export class Retrier {
  readonly #options: Required<RetryOptions>;
  #wasReached = false;
  #isTold = false;

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
   * Works until it is done, or fails otherwise than for a while.
   *
   * @param work Calls what it is given when it goes on, and begins where it ended when it is called again.
   * @throws {RetriesExhausted} where it fails for too long.
   */
  async run<T>(work: (goesOn: () => void) => Promise<T>): Promise<T> {
    const { now, pause } = this.#options;
    let failingSince: number | undefined;
    let tries = 0;
    const goesOn = () => {
      failingSince = undefined;
      tries = 0;
      this.#wasReached = true;
      this.#isTold = false;
    };
    for (;;) {
      try {
        const result = await work(goesOn);
        goesOn();
        return result;
      } catch (error) {
        if (!(error instanceof TemporaryFailure)) throw error;
        if (!(error instanceof Unreachable)) this.#wasReached = true;
        failingSince ??= now();
        const wait = Math.max(error.wait, this.#delay(tries++));
        const left = failingSince + this.#patience - now();
        if (wait > left) throw this.#gaveUp(error);
        this.#tell(error);
        await pause(wait);
      }
    }
  }

  /** A server that nobody has reached is more likely misspelt than restarting. */
  get #patience(): number {
    const { retryFor: patience } = this.#options;
    return this.#wasReached ? patience : Math.min(patience, FIRST_CONTACT_TIME);
  }

  /** Doubles, and is different for each who waits: they would all come back at once. */
  #delay(tries: number): number {
    const longest = Math.min(RETRY_MAX_DELAY, RETRY_MIN_DELAY * 2 ** Math.min(tries, 10));
    return longest * (0.5 + this.#options.random() / 2);
  }

  #gaveUp(error: TemporaryFailure): RetriesExhausted {
    const advice = this.#wasReached
      ? "it was tried again and again: run the same command again to go on where it ended"
      : "is the server running there? KVDRIVE_URL or --url names it";
    return new RetriesExhausted(`${error.message}; ${advice}`, { cause: error });
  }

  #tell(error: TemporaryFailure): void {
    if (this.#isTold || !this.#wasReached) return;
    this.#isTold = true;
    const seconds = Math.round(this.#options.retryFor / 1000);
    this.#options.onWait(`${error.message}: trying again for ${seconds} seconds at the most`);
  }
}

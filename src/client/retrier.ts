import { Retrier as SilentRetrier, type RetrierOptions } from "./api/retrier.ts";
import { RetriesExhausted, TemporaryFailure, Unreachable } from "./errors.ts";

/** Milliseconds for which an operation is repeated, unless configured. */
export const DEFAULT_RETRY_TIME = 5 * 60_000;

export interface RetryOptions extends Pick<RetrierOptions, "now" | "pause" | "random"> {
  /** Milliseconds for which an operation is repeated, counted from its last progress. */
  retryFor?: number;
  /** Receives a sentence for the user when waiting begins: once until the next success. */
  onWait?: (sentence: string) => void;
}

/** Repeats operations that failed temporarily, and tells the user. */
export class Retrier {
  readonly #retrier: SilentRetrier;

  constructor({ retryFor = DEFAULT_RETRY_TIME, onWait, ...options }: RetryOptions = {}) {
    const notice = `Retrying for up to ${Math.round(retryFor / 1000)} seconds`;
    this.#retrier = new SilentRetrier({
      ...options,
      retryFor,
      judge: (error) =>
        error instanceof TemporaryFailure
          ? { wait: error.wait, wasReached: !(error instanceof Unreachable) }
          : undefined,
      onWait: (error) => {
        if (error instanceof TemporaryFailure) onWait?.(joinSentences(error.message, notice));
      },
    });
  }

  /**
   * Runs an operation until it succeeds, or fails with anything but a `TemporaryFailure`.
   *
   * @param work Calls `onProgress` to restart the time limit; called again, it resumes where it ended.
   * @throws {RetriesExhausted} if it made no progress for `retryFor`.
   */
  async run<T>(work: (onProgress: () => void) => Promise<T>): Promise<T> {
    try {
      return await this.#retrier.run(work);
    } catch (error) {
      throw error instanceof TemporaryFailure ? this.#exhausted(error) : error;
    }
  }

  #exhausted(error: TemporaryFailure): RetriesExhausted {
    const advice = this.#retrier.wasReached
      ? "Gave up retrying: run the same command again to resume"
      : "Is the server running? Set its address with --url or KVDRIVE_URL";
    return new RetriesExhausted(joinSentences(error.message, advice), { cause: error });
  }
}

/** Joins two sentences, of which the first may be a question. */
function joinSentences(first: string, second: string): string {
  return first.endsWith("?") ? `${first} ${second}` : `${first}. ${second}`;
}

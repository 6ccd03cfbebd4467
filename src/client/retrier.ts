import { Retrier, type RetrierOptions } from "./api/retrier.ts";
import { isTemporary, reworded } from "./errors.ts";

/** Milliseconds for which an operation is repeated, unless configured. */
const DEFAULT_RETRY_TIME = 5 * 60_000;

export interface RetryOptions extends Pick<RetrierOptions, "now" | "pause" | "random"> {
  /** Milliseconds for which an operation is repeated, counted from its first failure. */
  retryFor?: number;
  /** Receives a sentence for the user when waiting begins: once until the next success. */
  onWait?: (sentence: string) => void;
}

/** Returns what repeats the requests of a command, and tells the user. */
export function commandRetrier(
  { retryFor = DEFAULT_RETRY_TIME, onWait, ...options }: RetryOptions = {},
): Retrier {
  const notice = `Retrying for up to ${Math.round(retryFor / 1000)} seconds`;
  return new Retrier({
    ...options,
    retryFor,
    isTemporary,
    onWait: ({ message }) => onWait?.(joinSentences(message, notice)),
    giveUp: (error, wasReached) => {
      const advice = wasReached
        ? "Gave up retrying: run the same command again to resume"
        : "Is the server running? Set its address with --url or KVDRIVE_URL";
      return reworded(error, joinSentences(error.message, advice));
    },
  });
}

/** Joins two sentences, of which the first may be a question. */
function joinSentences(first: string, second: string): string {
  return first.endsWith("?") ? `${first} ${second}` : `${first}. ${second}`;
}

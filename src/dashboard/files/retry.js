import { RETRY_WAITS } from "./limits.js";
import { wait as waitFor } from "./wait.js";

/** Answers that may differ the next time: the body came too slowly, too many calls, a busy or restarting server or proxy. */
const PASSING = new Set([408, 429, 500, 502, 503, 504]);

/**
 * Whether the same request may succeed a moment later. A status of 0 is a network that failed.
 *
 * @param {unknown} error
 */
export function isPassing(error) {
  const status = statusOf(error);
  return status === 0 || (status !== undefined && PASSING.has(status));
}

/**
 * The status of an answer that was thrown; 0 where the network failed, nothing where it is no answer.
 *
 * @param {unknown} error
 * @returns {number | undefined}
 */
export function statusOf(error) {
  if (!(error instanceof Error) || !("status" in error)) return undefined;
  return typeof error.status === "number" ? error.status : undefined;
}

/**
 * The sentence that an error tells a person.
 *
 * @param {unknown} error
 */
export function sentenceOf(error) {
  return error instanceof Error && error.message !== "" ? error.message : String(error);
}

/**
 * Does something that may fail in passing, again after growing waits.
 *
 * @template T
 * @param {() => Promise<T>} action
 * @param {object} [options]
 * @param {AbortSignal} [options.signal]
 * @param {readonly number[]} [options.waits] milliseconds before the second, third, … try
 * @param {(milliseconds: number, signal?: AbortSignal) => Promise<void>} [options.wait]
 * @param {(error: unknown, milliseconds: number) => void} [options.onRetry] told before each wait
 * @returns {Promise<T>}
 * @throws the last error.
 */
export async function withRetries(action, options = {}) {
  const { signal, waits = RETRY_WAITS, wait = waitFor, onRetry } = options;
  for (const milliseconds of waits) {
    try {
      return await action();
    } catch (error) {
      signal?.throwIfAborted();
      if (!isPassing(error)) throw error;
      onRetry?.(error, milliseconds);
      await wait(milliseconds, signal);
    }
  }
  return await action();
}

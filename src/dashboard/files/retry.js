import { RETRY_WAITS } from "./limits.js";
import { wait as waitFor } from "./wait.js";

/** Temporary failures: slow body, too many requests, a busy or restarting server or proxy. */
const TEMPORARY = new Set([408, 429, 500, 502, 503, 504]);

/**
 * Whether the same request may succeed a moment later. A status of 0 is a network that failed.
 *
 * @param {unknown} error
 */
export function isTemporary(error) {
  const status = statusOf(error);
  return status === 0 || (status !== undefined && TEMPORARY.has(status));
}

/**
 * The status of a thrown answer; 0 if the network failed, `undefined` for other errors.
 *
 * @param {unknown} error
 * @returns {number | undefined}
 */
export function statusOf(error) {
  if (!(error instanceof Error) || !("status" in error)) return undefined;
  return typeof error.status === "number" ? error.status : undefined;
}

/**
 * The sentence of an error.
 *
 * @param {unknown} error
 */
export function sentenceOf(error) {
  return error instanceof Error && error.message !== "" ? error.message : String(error);
}

/**
 * Retries an action after growing waits.
 *
 * @template T
 * @param {() => Promise<T>} action
 * @param {object} [options]
 * @param {AbortSignal} [options.signal]
 * @param {readonly number[]} [options.waits] milliseconds before the second, third, … attempt
 * @param {(milliseconds: number, signal?: AbortSignal) => Promise<void>} [options.wait]
 * @param {(error: unknown, milliseconds: number) => void} [options.onRetry] called before each wait
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
      if (!isTemporary(error)) throw error;
      onRetry?.(error, milliseconds);
      await wait(milliseconds, signal);
    }
  }
  return await action();
}

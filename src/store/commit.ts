import { delay } from "@std/async/delay";
import {
  LOCKED_RETRY_MAX_DELAY,
  LOCKED_RETRY_MIN_DELAY,
  LOCKED_RETRY_TIME,
} from "../drive/limits.ts";
import { StoreFull, StoreUnavailable } from "./errors.ts";
import type { Operation } from "./operation.ts";

/** Whether an operation happened, and under which versionstamp. */
export type Outcome = Deno.KvCommitResult | Deno.KvCommitError;

/**
 * Commits an operation. Another process that holds the database's lock is waited for: nothing was written then.
 *
 * @param onRetry Called when it is tried again for that reason.
 * @throws {StoreUnavailable} if the lock is not free within `LOCKED_RETRY_TIME`.
 * @throws {StoreFull} if the disk is.
 */
export async function commitOperation(
  kv: Deno.Kv,
  operation: Operation,
  onRetry: () => void = () => {},
): Promise<Outcome> {
  const deadline = performance.now() + LOCKED_RETRY_TIME;
  while (true) {
    try {
      return await operation.commit(kv);
    } catch (error) {
      if (isFull(error)) throw new StoreFull("The disk is full", { cause: error });
      if (!isLocked(error)) throw error;
      if (performance.now() >= deadline) {
        throw new StoreUnavailable("The database stayed locked by another process", {
          cause: error,
        });
      }
      onRetry();
      await delay(jitter());
    }
  }
}

function isLocked(error: unknown): boolean {
  return error instanceof TypeError && /database (table )?is (locked|busy)/.test(error.message);
}

function isFull(error: unknown): boolean {
  return error instanceof TypeError && error.message.includes("database or disk is full");
}

function jitter(): number {
  const span = LOCKED_RETRY_MAX_DELAY - LOCKED_RETRY_MIN_DELAY;
  return LOCKED_RETRY_MIN_DELAY + Math.random() * span;
}

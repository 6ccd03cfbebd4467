import type { Database } from "./database.ts";
import { StoreUnavailable } from "./errors.ts";
import type { Operation } from "./operation.ts";

/** Attempts of a read-check-commit cycle that loses against concurrent writers, before the caller gets 503. */
export const MAX_TRANSACTION_TRIES = 50;

/** What an attempt decided on the entries that it read. Without an operation nothing is committed. */
export interface Decision<T> {
  operation?: Operation;
  result: T;
}

/**
 * Reads, decides and commits; starts over when a concurrent commit changed what was read. Returns the result of the
 * attempt that was committed.
 *
 * @param attempt Reads and decides. It throws to refuse, and returns `undefined` to start over.
 * @throws {StoreUnavailable} after `MAX_TRANSACTION_TRIES` attempts.
 */
export async function transact<T>(
  db: Database,
  attempt: () => Promise<Decision<T> | undefined>,
): Promise<T> {
  for (let tries = 0; tries < MAX_TRANSACTION_TRIES; tries++) {
    const decision = await attempt();
    if (decision === undefined) continue;
    const { operation, result } = decision;
    if (operation === undefined || (await db.commit(operation)).ok) return result;
  }
  throw new StoreUnavailable("Too many concurrent changes of the same entry");
}

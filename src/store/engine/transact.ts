import type { Database } from "./database.ts";
import { StoreUnavailable } from "./errors.ts";
import { Operation } from "./operation.ts";
import { inBatches } from "../reads/read_queue.ts";

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

/** Entries that one operation of `deleteAll` deletes: few enough not to hold up requests. */
const DELETED_TOGETHER = 200;

/** Deletes entries in this order, also if they have changed. @param isStopped Ends it before the next operation. */
export async function deleteAll(
  db: Database,
  entries: AsyncIterable<{ key: Deno.KvKey }>,
  isStopped: () => boolean = () => false,
): Promise<void> {
  for await (const batch of inBatches(entries, DELETED_TOGETHER)) {
    if (isStopped()) return;
    const removal = new Operation();
    for (const { key } of batch) removal.delete(key);
    await db.commitBulk(removal);
  }
}

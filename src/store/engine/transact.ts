import type { Database } from "./database.ts";
import { StoreUnavailable } from "./errors.ts";
import type { Operation } from "./operation.ts";

/** How often a publish whose check failed is tried again from the read before the answer is 503. */
export const MAX_TRANSACTION_TRIES = 50;

/** What was decided on what was read. Without an operation nothing has to change. */
export interface Decision<T> {
  operation?: Operation;
  result: T;
}

/**
 * Reads, decides and commits, again from the start while something comes between, and gives the result that held.
 *
 * @param attempt Throws to refuse; gives `undefined` to start again.
 * @throws {StoreUnavailable} where something comes between `MAX_PUBLISH_TRIES` times.
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
  throw new StoreUnavailable("Too many others change the same");
}

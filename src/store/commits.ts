import { BULK_COMMITS, GROUP_COMMITS, MAX_COMMIT_CHECKS } from "../drive/limits.ts";
import { commitOperation, type Outcome } from "./commit.ts";
import type { Operation } from "./operation.ts";

/** How a store takes commits. What fails is a `StoreUnavailable` or a `StoreFull`, or a defect of ours. */
export interface Commits {
  /** Commits an operation exactly once; a refusal says that it did not happen. */
  once(operation: Operation): Promise<Outcome>;
  /** Commits an operation that is, done twice, as done once. */
  again(operation: Operation): Promise<Outcome>;
  /** How many checks one operation can have. */
  checks: number;
  /** Groups of small operations on their way at once. */
  groups: number;
  /** Large operations on their way at once. */
  bulk: number;
}

/** Those of a store inside of this process: no answer is lost on the way. */
export function embeddedCommits(kv: Deno.Kv): Commits {
  const commit = (operation: Operation) => commitOperation(kv, operation);
  return {
    once: commit,
    again: commit,
    checks: MAX_COMMIT_CHECKS,
    groups: GROUP_COMMITS,
    bulk: BULK_COMMITS,
  };
}

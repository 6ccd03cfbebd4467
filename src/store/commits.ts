import { BULK_COMMITS, GROUP_COMMITS, MAX_COMMIT_CHECKS } from "../drive/limits.ts";
import { commitOperation, type Outcome } from "./commit.ts";
import type { Operation } from "./operation.ts";
import type { CommitOutcome, StoreMeter } from "./store_meter.ts";

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

/**
 * Those of a store inside of this process: no answer is lost on the way.
 *
 * @param onRetry Called when a commit is tried again, because another process held the database's lock.
 */
export function embeddedCommits(kv: Deno.Kv, onRetry?: () => void): Commits {
  const commit = (operation: Operation) => commitOperation(kv, operation, onRetry);
  return {
    once: commit,
    again: commit,
    checks: MAX_COMMIT_CHECKS,
    groups: GROUP_COMMITS,
    bulk: BULK_COMMITS,
  };
}

/** The same commits, of which a meter is told. */
export function meteredCommits(commits: Commits, who: { meter: StoreMeter }): Commits {
  const metered = (commit: Commits["once"]) => async (operation: Operation): Promise<Outcome> => {
    const began = performance.now();
    const tell = (outcome: CommitOutcome) =>
      who.meter.committed(outcome, operation.members, performance.now() - began);
    try {
      const outcome = await commit(operation);
      tell(outcome.ok ? "done" : "refused");
      return outcome;
    } catch (error) {
      tell("failed");
      throw error;
    }
  };
  return { ...commits, once: metered(commits.once), again: metered(commits.again) };
}

import { BULK_COMMITS, GROUP_COMMITS, MAX_COMMIT_CHECKS } from "../drive/limits.ts";
import type { Ballast } from "./ballast.ts";
import { commitOperation, type Outcome } from "./commit.ts";
import { StoreFull, StoreUnavailable } from "./errors.ts";
import type { LockProbe } from "./lock_probe.ts";
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
 * Those of a store inside of this process: no answer is lost on the way. While another process holds the lock for longer
 * than `LOCKED_RETRY_TIME`, they fail at once: each would wait that long for itself, one after the other.
 *
 * @param onRetry Called when a commit is tried again, because another process held the database's lock.
 * @param locks Tells whether the lock is free.
 */
export function embeddedCommits(
  kv: Deno.Kv,
  onRetry?: () => void,
  locks?: Pick<LockProbe, "isFree">,
): Commits {
  let isLocked = false;
  const commit = async (operation: Operation): Promise<Outcome> => {
    if (isLocked && locks?.isFree() === false) {
      throw new StoreUnavailable("The database stays locked by another process");
    }
    try {
      const outcome = await commitOperation(kv, operation, onRetry);
      isLocked = false;
      return outcome;
    } catch (error) {
      isLocked = error instanceof StoreUnavailable;
      throw error;
    }
  };
  return {
    once: commit,
    again: commit,
    checks: MAX_COMMIT_CHECKS,
    groups: GROUP_COMMITS,
    bulk: BULK_COMMITS,
  };
}

/**
 * The same commits on a disk that may be full: an operation that stores no bytes of a file is tried again with space from
 * the ballast, and others are refused until the ballast is complete again.
 *
 * @param kept How many pieces of the ballast are left alone.
 */
export function commitsWithBallast(commits: Commits, ballast: Ballast, kept = 0): Commits {
  const tried = (commit: Commits["once"]) => async (operation: Operation): Promise<Outcome> => {
    if (operation.hasFileBytes) {
      if (ballast.isNeeded) throw new StoreFull("The disk is full");
      try {
        return await commit(operation);
      } catch (error) {
        // A checkpoint has begun to take the space that was held for it.
        if (!(error instanceof StoreFull) || !ballast.giveUpGrowth()) throw error;
        return await commit(operation);
      }
    }
    while (true) {
      const before = ballast.givenUp;
      try {
        return await commit(operation);
      } catch (error) {
        // SQLite cannot make the index of its log larger on a full disk, and calls that an I/O error.
        const isFull = error instanceof StoreFull || isIoError(error) && await ballast.isDiskFull();
        if (!isFull) throw error;
        if (ballast.givenUp === before && !ballast.giveUp(kept)) {
          throw error instanceof StoreFull
            ? error
            : new StoreFull("The disk is full", { cause: error });
        }
      }
    }
  };
  return { ...commits, once: tried(commits.once), again: tried(commits.again) };
}

function isIoError(error: unknown): boolean {
  return error instanceof Error && error.message.includes("disk I/O error");
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

import { delay } from "@std/async/delay";
import type { Ballast } from "../disk/ballast.ts";
import { StoreFull } from "../disk/disk_space.ts";
import type { LockProbe } from "../disk/file_probes.ts";
import { LOCKED_RETRY_TIME } from "../disk/sqlite.ts";
import { StoreUnavailable } from "./errors.ts";
import { MAX_COMMIT_CHECKS, type Operation } from "./operation.ts";
import type { CommitOutcome, StoreMeter } from "./store_meter.ts";

export const BULK_COMMITS = 2;

/** Groups of small writes on their way at once. */
export const GROUP_COMMITS = 2;

const LOCKED_RETRY_MIN_DELAY = 2;

export const LOCKED_RETRY_MAX_DELAY = 20;

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

/** How a store takes commits. What fails is a `StoreUnavailable` or a `StoreFull`, or a defect of ours. */
export interface Commits {
  /** Commits an operation exactly once; a refusal says that it did not happen. */
  once(operation: Operation): Promise<Outcome>;
  /** Commits an operation that is, done twice, as done once. */
  idempotent(operation: Operation): Promise<Outcome>;
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
    idempotent: commit,
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
  return { ...commits, once: tried(commits.once), idempotent: tried(commits.idempotent) };
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
  return { ...commits, once: metered(commits.once), idempotent: metered(commits.idempotent) };
}

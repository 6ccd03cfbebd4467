/**
 * The lowest part of the commit path: one operation, one answer.
 *
 * A caller reaches it through `Database.commit` (small operations, merged by `GroupCommitter`) or `Database.commitBulk`
 * (chunks of files). `embeddedCommits` commits to the SQLite file of this process and retries while another process
 * holds its lock; `remoteCommits` in `store/remote/` does the same over a network. Three wrappers add behaviour:
 * `meteredCommits` reports to the metrics, `commitsWithBallast` lets deletions succeed on a full disk, and
 * `commitsToCounters` keeps Deno KV from adding to a damaged counter.
 *
 * @module
 */
import { delay } from "@std/async/delay";
import type { Ballast } from "../disk/ballast.ts";
import { StoreFull } from "../disk/disk_space.ts";
import type { LockProbe } from "../disk/file_probes.ts";
import { isLocked, LOCKED_RETRY_TIME } from "../disk/sqlite.ts";
import type { SqliteReader } from "../reads/sqlite_reader.ts";
import { StoreUnavailable, UnreadableEntry } from "./errors.ts";
import { MAX_COMMIT_CHECKS, type Operation } from "./operation.ts";
import type { Garbage } from "./records.ts";

/** Random pauses between attempts on a locked database, in milliseconds. */
const LOCKED_RETRY_MIN_DELAY = 2;
export const LOCKED_RETRY_MAX_DELAY = 20;

/** Groups of small operations that are committed at the same time. */
export const GROUP_COMMITS = 2;

/**
 * Commits of chunks at the same time. Deno KV commits one after the other. While another process holds the lock of the
 * file each of them waits for it, one after the other as well, so that more would be answered late.
 */
export const BULK_COMMITS = 2;

/** Whether an operation was applied, and under which versionstamp. */
export type Outcome = Deno.KvCommitResult | Deno.KvCommitError;

/** @param onRetry Called when the commit is tried again because another process holds the database's lock. */
export type Commit = (operation: Operation, onRetry?: () => void) => Promise<Outcome>;

/** How a store takes commits. They throw `StoreUnavailable` or `StoreFull`; another error is a defect of kvdrive. */
export interface Commits {
  /** Commits an operation exactly once; a refusal means that it was not applied. */
  once: Commit;
  /** Commits an idempotent operation, possibly twice. */
  idempotent: Commit;
  checks: number;
  /** Groups of small operations in flight. */
  groups: number;
  /** Bulk operations in flight. */
  bulk: number;
}

/**
 * Returns the commits of a store in this process, where no answer gets lost on the way.
 *
 * After one commit has waited `LOCKED_RETRY_TIME` for another process's lock, the following ones fail at once until the
 * lock is free: otherwise each would wait that long, one after the other.
 *
 * @param locks Checks the lock; without it every commit waits.
 */
export function embeddedCommits(
  kv: Pick<Deno.Kv, "atomic">,
  locks?: Pick<LockProbe, "isFree">,
): Commits {
  let isLocked = false;
  const commit: Commit = async (operation, onRetry) => {
    if (isLocked && locks?.isFree() === false) {
      throw new StoreUnavailable("The database stays locked by another process");
    }
    try {
      const outcome = await commitWithRetries(kv, operation, onRetry);
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
 * Commits an operation and retries while another process holds the database's lock, which leaves nothing written.
 *
 * @throws {StoreUnavailable} if the lock is not free within `LOCKED_RETRY_TIME` after it was met.
 * @throws {StoreFull} if the disk is full.
 */
export async function commitWithRetries(
  kv: Pick<Deno.Kv, "atomic">,
  operation: Operation,
  onRetry: () => void = () => {},
): Promise<Outcome> {
  // Set when the lock is met: before that a slow disk may have held the commit up for as long.
  let deadline: number | undefined;
  while (true) {
    try {
      return await operation.commit(kv);
    } catch (error) {
      if (isFull(error)) throw new StoreFull("The disk is full", { cause: error });
      if (!isLocked(error)) throw error;
      const now = performance.now();
      deadline ??= now + LOCKED_RETRY_TIME;
      if (now >= deadline) {
        throw new StoreUnavailable("The database stayed locked by another process", {
          cause: error,
        });
      }
      onRetry();
      await delay(randomDelay());
    }
  }
}

function isFull(error: unknown): boolean {
  return error instanceof TypeError && error.message.includes("database or disk is full");
}

function randomDelay(): number {
  const span = LOCKED_RETRY_MAX_DELAY - LOCKED_RETRY_MIN_DELAY;
  return LOCKED_RETRY_MIN_DELAY + Math.random() * span;
}

/**
 * Returns the same commits for a disk that may be full. An operation that stores no bytes of a file is retried with
 * space released from the ballast; operations with bytes are refused until the ballast is complete again.
 *
 * @param kept Pieces of the ballast that these commits must not use.
 */
export function commitsWithBallast(commits: Commits, ballast: Ballast, kept = 0): Commits {
  const guarded = (commit: Commit): Commit => (operation) =>
    operation.hasFileBytes
      ? commitBytes(commit, operation, ballast)
      : commitReleasing(commit, operation, ballast, kept);
  return { ...commits, once: guarded(commits.once), idempotent: guarded(commits.idempotent) };
}

async function commitBytes(
  commit: Commit,
  operation: Operation,
  ballast: Ballast,
): Promise<Outcome> {
  if (ballast.isNeeded) throw new StoreFull("The disk is full");
  try {
    return await commit(operation);
  } catch (error) {
    // A checkpoint has started to use the space that was reserved for it.
    if (!(error instanceof StoreFull) || !ballast.giveUpGrowth()) throw error;
    return await commit(operation);
  }
}

async function commitReleasing(
  commit: Commit,
  operation: Operation,
  ballast: Ballast,
  kept: number,
): Promise<Outcome> {
  while (true) {
    const before = ballast.givenUp;
    try {
      return await commit(operation);
    } catch (error) {
      // On a full disk SQLite cannot extend the index of its log, and reports an I/O error.
      const isFull = error instanceof StoreFull || isIoError(error) && await ballast.isDiskFull();
      if (!isFull) throw error;
      if (ballast.givenUp === before && !ballast.giveUp(kept)) {
        throw error instanceof StoreFull
          ? error
          : new StoreFull("The disk is full", { cause: error });
      }
    }
  }
}

function isIoError(error: unknown): boolean {
  return error instanceof Error && error.message.includes("disk I/O error");
}

/** Counters that are known to be sound. They take some hundred KB of memory. */
const MAX_SOUND_COUNTERS = 5000;

/**
 * Returns the same commits, which refuse to add to a damaged counter: Deno KV would end the process, so that one flipped
 * bit would stop the whole server at each write to a drive. Each counter is looked at once.
 */
export function commitsToCounters(
  commits: Commits,
  reader: Pick<SqliteReader, "findNoCounter">,
): Commits {
  const sound = new Set<string>();
  const guarded = (commit: Commit): Commit => async (operation, onRetry) => {
    const unknown = operation.counters.filter(({ id }) => !sound.has(id));
    if (unknown.length > 0) {
      const damaged = await reader.findNoCounter(unknown.map(({ key }) => key));
      if (damaged !== undefined) throw new UnreadableEntry(damaged, "it is no counter");
      if (sound.size >= MAX_SOUND_COUNTERS) sound.clear();
      for (const { id } of unknown) sound.add(id);
    }
    return await commit(operation, onRetry);
  };
  return { ...commits, once: guarded(commits.once), idempotent: guarded(commits.idempotent) };
}

/** Returns the same commits, reported to the owner's current meter. */
export function meteredCommits(commits: Commits, owner: { meter: StoreMeter }): Commits {
  const onRetry = () => owner.meter.retried();
  const metered = (commit: Commit): Commit => async (operation) => {
    const start = performance.now();
    const report = (outcome: CommitOutcome) =>
      owner.meter.committed(outcome, operation.members, performance.now() - start);
    try {
      const outcome = await commit(operation, onRetry);
      report(outcome.ok ? "done" : "refused");
      return outcome;
    } catch (error) {
      report("failed");
      throw error;
    }
  };
  return { ...commits, once: metered(commits.once), idempotent: metered(commits.idempotent) };
}

/** How a commit ended: applied, refused because a check failed, or failed with an error. */
export type CommitOutcome = "done" | "refused" | "failed";

/** Entries of the garbage list, by their kind, and files whose deadline has passed. */
export type SweptKind = Garbage["kind"] | "expired_file";

/** What the scrub found of a file. `converted`: it was whole, and its missing digest was added. */
export type ScrubOutcome = "whole" | "converted" | "damaged";

/** Receives events of the store for the metrics. Its methods are called on hot paths and must cost next to nothing. */
export interface StoreMeter {
  /**
   * A commit has ended.
   *
   * @param members Operations that were merged into it.
   * @param milliseconds Duration, including the wait for the database's lock.
   */
  committed(outcome: CommitOutcome, members: number, milliseconds: number): void;
  /** A commit is retried because another process holds the database's lock. */
  retried(): void;
  /** The sweeper has removed an entry of the garbage list, or an expired file. */
  swept(kind: SweptKind): void;
  /** The sweeper has taken the bytes of a writer whose lease expired. */
  tookOver(): void;
  sweepEnded(succeeded: boolean, milliseconds: number): void;
  /** A download met bytes that are missing or wrong. */
  damageRead(): void;
  /** The scrub has read bytes. */
  scrubbed(bytes: number): void;
  /** The scrub has checked a file. */
  fileScrubbed(outcome: ScrubOutcome): void;
  /** A pass of the scrub over all files has ended. */
  scrubEnded(succeeded: boolean): void;
}

const nothing = (): void => {};

/** Ignores all events. */
export const NO_METER: StoreMeter = {
  committed: nothing,
  retried: nothing,
  swept: nothing,
  tookOver: nothing,
  sweepEnded: nothing,
  damageRead: nothing,
  scrubbed: nothing,
  fileScrubbed: nothing,
  scrubEnded: nothing,
};

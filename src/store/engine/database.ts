import { delay } from "@std/async/delay";

import { Semaphore } from "../../rules/concurrency.ts";

import { Ballast, PIECES_FOR_USERS } from "../disk/ballast.ts";

import { ChangeProbe, LockProbe } from "../disk/file_probes.ts";
import { WriteAheadLog } from "../disk/write_ahead_log.ts";
import {
  type Commits,
  commitsWithBallast,
  embeddedCommits,
  LOCKED_RETRY_MAX_DELAY,
  meteredCommits,
  type Outcome,
} from "./commits.ts";
import { StoreUnavailable } from "./errors.ts";
import { GroupCommitter } from "./group_commit.ts";
import { keys } from "./keys.ts";
import type { Operation } from "./operation.ts";
import { ReadQueue } from "./read_queue.ts";
import { NO_METER, type StoreMeter } from "./store_meter.ts";

/** Bulk commits of the background at once: one that reclaims bytes and one that removes a drive or a project. */
const BACKGROUND_COMMITS = 2;

/** What differs from store to store. */
export interface Ways {
  /** Tells whether the store changes; a store that is no file has none. */
  changes?: ChangeProbe;
  /** Tells whether somebody holds the store's lock; a store that is no file has none. */
  locks?: LockProbe;
  /** Tells what the store's log needs of the disk; a store that is no file has none. */
  log?: WriteAheadLog;
  /** Holds space of the disk for deletions; a store that is no file has none. */
  ballast?: Ballast;
  /** Says that the store's folder is in use, until it is disposed of. */
  inUse?: Disposable;
  /** How it takes commits; as an embedded one, unless given. */
  commits?: Commits;
  /** Groups of small reads on their way at once. */
  reads?: number;
  /** Called when the store is closed, before its handles are. */
  onClose?: () => void;
}

/**
 * A Deno KV store with a way in for each kind of work: reads, small commits, bulk commits.
 * Each handle has one thread that serves it in order, so reads have a handle of their own and don't wait for writes.
 */
export class Database {
  readonly reader: Deno.Kv;
  /** Reads of single entries, which many requests make at the same time. */
  readonly reads: ReadQueue;
  /** Tells whether the store changes; a store that is no file has none. */
  readonly changes: ChangeProbe | undefined;
  /** Tells what the store's log needs of the disk; a store that is no file has none. */
  readonly log: WriteAheadLog | undefined;
  /** Holds space of the disk for deletions; a store that is no file has none. */
  readonly ballast: Ballast | undefined;
  /** What the store can take. */
  readonly commits: Commits;
  /** The versions whose bytes this process is writing. */
  readonly writing = new Set<string>();
  /** Is told of every commit. */
  meter: StoreMeter = NO_METER;
  readonly #writer: Deno.Kv;
  readonly #groups: GroupCommitter;
  readonly #bulk: Semaphore;
  readonly #background = new Semaphore(BACKGROUND_COMMITS);
  readonly #bulkCommits: Commits;
  readonly #onClose: () => void;
  readonly #running = new Set<Promise<unknown>>();
  readonly #locks: LockProbe | undefined;
  readonly #inUse: Disposable | undefined;
  #closing = false;
  /** When the last commit was on disk. */
  #committed = -Infinity;

  constructor(
    reader: Deno.Kv,
    writer: Deno.Kv,
    { changes, log, ballast, locks, inUse, commits, reads, onClose = () => {} }: Ways = {},
  ) {
    this.changes = changes;
    this.log = log;
    this.ballast = ballast;
    this.#locks = locks;
    this.#inUse = inUse;
    this.reader = reader;
    this.reads = new ReadQueue(reader, reads);
    this.#writer = writer;
    const retried = () => this.meter.retried();
    this.commits = meteredCommits(commits ?? embeddedCommits(writer, retried, locks), this);
    const saved = (kept: number) =>
      ballast === undefined ? this.commits : commitsWithBallast(this.commits, ballast, kept);
    this.#groups = new GroupCommitter(writer, saved(0));
    this.#bulkCommits = saved(PIECES_FOR_USERS);
    this.#bulk = new Semaphore(this.commits.bulk);
    this.#onClose = onClose;
  }

  /** Whether commits are on their way. */
  get isCommitting(): boolean {
    return this.#running.size > 0;
  }

  /** Commits a small operation, together with others that wait at the same time. */
  commit(operation: Operation): Promise<Outcome> {
    return this.#track(() => this.#groups.commit(operation));
  }

  /**
   * Commits an operation with many bytes or many changes. Few of them run at once. Done twice, where the store's answer
   * was lost, it has to be as done once, unless it counts or demands the state of what it changes.
   *
   * @param kind Work in the background has slots of its own, so that it does not wait for the uploads, however many run.
   */
  commitBulk(operation: Operation, kind: "upload" | "background" = "upload"): Promise<Outcome> {
    const { once, idempotent: again } = this.#bulkCommits;
    const commit = operation.counts || operation.changesItsChecks ? once : again;
    const slots = kind === "upload" ? this.#bulk : this.#background;
    return this.#track(() => slots.run(() => commit(operation)));
  }

  /**
   * Looks whether entries can be read, and whether a commit would be taken. It comes to an end when that is so.
   *
   * @param signal Ends it before, where somebody else holds the lock for long.
   */
  async probe(signal: AbortSignal): Promise<void> {
    await this.reader.get(keys.adminToken());
    const began = performance.now();
    // Where commits are under way all the time the lock is seldom free, and each of them says as much.
    while (this.#locks !== undefined && this.#committed < began && !this.#locks.isFree()) {
      await delay(LOCKED_RETRY_MAX_DELAY, { signal });
    }
  }

  /** Waits for commits that are on their way, and takes no more; then closes the store. */
  async close(): Promise<void> {
    this.#closing = true;
    while (this.#running.size > 0) await Promise.allSettled(this.#running);
    this.#onClose();
    this.changes?.[Symbol.dispose]();
    this.log?.[Symbol.dispose]();
    this.#locks?.[Symbol.dispose]();
    this.#writer.close();
    if (this.reader !== this.#writer) this.reader.close();
    this.#inUse?.[Symbol.dispose]();
  }

  #track(start: () => Promise<Outcome>): Promise<Outcome> {
    if (this.#closing) return Promise.reject(new StoreUnavailable("The store is being closed"));
    const work = start();
    this.#running.add(work);
    const forget = () => void this.#running.delete(work);
    work.then((outcome) => {
      forget();
      if (outcome.ok) this.#committed = performance.now();
    }, forget);
    return work;
  }
}

/** An empty store that is gone when it is closed. A second handle would open a store of its own, so it has one. */
export async function openMemoryDatabase(): Promise<Database> {
  const kv = await Deno.openKv(":memory:");
  return new Database(kv, kv);
}

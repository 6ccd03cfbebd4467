import { delay } from "@std/async/delay";
import { Semaphore } from "../../rules/concurrency.ts";
import { type Ballast, PIECES_FOR_USERS } from "../disk/ballast.ts";
import type { ChangeProbe, LockProbe } from "../disk/file_probes.ts";
import type { WriteAheadLog } from "../disk/write_ahead_log.ts";
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
import { type EntryReader, type KvReader, ReadQueue, readReferenced } from "../reads/read_queue.ts";
import { recordReader, UnreadableEntries } from "../reads/record_codec.ts";
import { NO_METER, type StoreMeter } from "./store_meter.ts";

/** Bulk commits of background work at the same time: one of the garbage collector and one of a deletion. */
const BACKGROUND_COMMITS = 2;

/**
 * How long nothing may have been committed before single entries are read through the memory map, in milliseconds.
 * SQLite discards a map after each commit. The few pages of the next chunks are soon mapped again, but not the many pages
 * that small reads touch.
 */
const QUIET_TIME = 500;

/** What only some kinds of stores have. `changes`, `locks`, `log` and `ballast` belong to a store in a file. */
export interface DatabaseParts {
  /** Detects commits of all processes. */
  changes?: ChangeProbe;
  /** Checks whether a process holds the write lock. */
  locks?: LockProbe;
  /** The write-ahead log. */
  log?: WriteAheadLog;
  /** Disk space that is reserved for deletions. */
  ballast?: Ballast;
  /** Reads single entries; by default a `ReadQueue` merges them. */
  reads?: EntryReader;
  /** Reads chunks of files, and single entries while nothing is written; by default `reader`. */
  mapped?: KvReader;
  /** Reads from the disk, never through a memory map; by default `reader`. */
  diskReader?: KvReader;
  /** What the operator should know about this store, as a sentence. */
  notice?: string;
  /** What the readers report unreadable entries to. */
  unreadable?: UnreadableEntries;
  /** Handles and locks that `close` disposes of. */
  resources?: Disposable;
}

/**
 * A Deno KV store with one entrance for each kind of work.
 *
 * - **Small reads** (`reads`): single entries, read like chunks while nothing is written, else like lists. Deno KV gets
 *   them merged into one read per turn of the event loop (`ReadQueue`).
 * - **Lists** (`reader`) and **chunks of files** (`chunks`): a store in a file is read with SQLite (`SqliteReader`), its
 *   chunks through a memory map; other stores are read with Deno KV.
 * - **Small commits** (`commit`): merged into groups (`GroupCommitter`), because every commit costs a sync of the disk.
 * - **Bulk commits** (`commitBulk`): many chunks or many deletions each; few run at a time, so that small ones stay
 *   quick.
 *
 * All commits end in `Commits`, which hides whether the store is a file of this machine or behind a network. Each Deno
 * KV handle is served by one thread in order, so the opener gives reads a handle of their own that never waits for
 * commits.
 */
export class Database {
  /** Reads entries and lists them. */
  readonly reader: KvReader;
  /** Reads single entries that many requests need at the same time. */
  readonly reads: EntryReader;
  /** Reads chunks of files. */
  readonly chunks: KvReader;
  /**
   * Reads what may be unreadable: such a read fails, where a read through a memory map would end the process. It waits
   * in a thread.
   */
  readonly diskReader: KvReader;
  readonly changes: ChangeProbe | undefined;
  /** What the operator should know about this store, as a sentence. */
  readonly notice: string | undefined;
  /** Receives the entries that cannot be read. */
  readonly unreadable: UnreadableEntries;
  readonly log: WriteAheadLog | undefined;
  readonly ballast: Ballast | undefined;
  /** Commits without grouping and without the ballast, and the store's limits. */
  readonly commits: Commits;
  /** Versions whose bytes this process is writing. */
  readonly writing = new Set<string>();
  /** Receives every commit. */
  meter: StoreMeter = NO_METER;
  readonly #locks: LockProbe | undefined;
  readonly #resources: Disposable | undefined;
  readonly #groups: GroupCommitter;
  readonly #bulkCommits: Commits;
  readonly #bulk: Semaphore;
  readonly #background = new Semaphore(BACKGROUND_COMMITS);
  readonly #running = new Set<Promise<unknown>>();
  #isClosing = false;
  /** End of the last successful commit, in milliseconds of the monotonic clock. */
  #lastCommit = -Infinity;

  constructor(
    reader: KvReader,
    commits: Commits,
    parts: DatabaseParts = {},
  ) {
    const { changes, locks, log, ballast, resources } = parts;
    this.notice = parts.notice;
    this.unreadable = parts.unreadable ?? new UnreadableEntries();
    this.changes = changes;
    this.log = log;
    this.ballast = ballast;
    this.#locks = locks;
    this.#resources = resources;
    this.reader = reader;
    const { mapped } = parts;
    this.chunks = mapped ?? reader;
    this.reads = parts.reads ??
      (mapped === undefined ? new ReadQueue(reader) : {
        get: (keys) => (this.#isQuiet() ? mapped : reader).getMany(keys),
        getReferenced: (key, referenceOf) =>
          readReferenced(this.#isQuiet() ? mapped : reader, key, referenceOf),
      });
    this.diskReader = parts.diskReader ?? reader;
    this.commits = meteredCommits(commits, this);
    const withBallast = (kept: number) =>
      ballast === undefined ? this.commits : commitsWithBallast(this.commits, ballast, kept);
    this.#groups = new GroupCommitter(reader, withBallast(0));
    this.#bulkCommits = withBallast(PIECES_FOR_USERS);
    this.#bulk = new Semaphore(this.commits.bulk);
  }

  /** Whether commits are in flight or waiting. */
  get isCommitting(): boolean {
    return this.#running.size > 0;
  }

  /** Commits a small operation, grouped with others that wait at the same time. */
  commit(operation: Operation): Promise<Outcome> {
    return this.#track(() => this.#groups.commit(operation));
  }

  /**
   * Commits an operation with many bytes or many changes, alone. If the answer of a remote store is lost, an idempotent
   * operation may be committed twice.
   *
   * @param kind Background work has slots of its own, so that uploads never delay it.
   */
  commitBulk(operation: Operation, kind: "upload" | "background" = "upload"): Promise<Outcome> {
    const { once, idempotent } = this.#bulkCommits;
    const commit = operation.isIdempotent ? idempotent : once;
    const slots = kind === "upload" ? this.#bulk : this.#background;
    return this.#track(() => slots.run(() => commit(operation)));
  }

  /**
   * Resolves once an entry can be read and a commit would be accepted. Writes nothing.
   *
   * @param signal Stops the wait for a lock that another process holds.
   */
  async probe(signal: AbortSignal): Promise<void> {
    await this.reader.get(keys.adminToken());
    const start = performance.now();
    // Under constant load the lock is rarely free, but then every successful commit proves that the store is writable.
    while (this.#locks !== undefined && this.#lastCommit < start && !this.#locks.isFree()) {
      await delay(LOCKED_RETRY_MAX_DELAY, { signal });
    }
  }

  /** Refuses new commits, waits for those in flight, and closes the store. */
  async close(): Promise<void> {
    this.#isClosing = true;
    while (this.#running.size > 0) await Promise.allSettled(this.#running);
    this.#resources?.[Symbol.dispose]();
  }

  /** Returns whether this process has committed nothing for `QUIET_TIME`. */
  #isQuiet(): boolean {
    return !this.isCommitting && performance.now() - this.#lastCommit > QUIET_TIME;
  }

  #track(start: () => Promise<Outcome>): Promise<Outcome> {
    if (this.#isClosing) return Promise.reject(new StoreUnavailable("The store is being closed"));
    const work = start();
    this.#running.add(work);
    const forget = () => void this.#running.delete(work);
    work.then((outcome) => {
      forget();
      if (outcome.ok) this.#lastCommit = performance.now();
    }, forget);
    return work;
  }
}

/**
 * Opens an empty store in memory, which is lost when it is closed. It has one handle, as a second would be another
 * store.
 */
export async function openMemoryDatabase(): Promise<Database> {
  const kv = await Deno.openKv(":memory:");
  const unreadable = new UnreadableEntries();
  const reader = recordReader(kv, unreadable);
  return new Database(reader, embeddedCommits(kv), { unreadable, resources: kv });
}

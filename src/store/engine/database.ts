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
  NO_METER,
  type Outcome,
  type StoreMeter,
} from "./commits.ts";
import { StoreUnavailable } from "./errors.ts";
import { GroupCommitter } from "./group_commit.ts";
import { keys } from "./keys.ts";
import type { Operation } from "./operation.ts";
import {
  type EntryReader,
  type KvReader,
  readAround,
  ReadQueue,
  readReferenced,
} from "../reads/read_queue.ts";
import { recordReader, UnreadableEntries } from "../reads/record_codec.ts";

/** Bulk commits of background work at the same time: one of the garbage collector and one of a deletion. */
const BACKGROUND_COMMITS = 2;

/**
 * How long nothing may have been committed before single records are read through the memory map, in milliseconds.
 * SQLite discards a map after each commit, and small reads touch many pages: they take half the time with a map that
 * stays, and a fifth longer with one that is made again each time.
 */
const QUIET_TIME = 500;

/** What only some kinds of stores have. `changes`, `locks`, `logs` and `ballast` belong to a store in files. */
export interface DatabaseParts {
  /** The file of the chunks; without it they are among the records. */
  bytes?: { reader: KvReader; diskReader: KvReader; commits: Commits } | undefined;
  /** Detects commits of records by all processes. */
  changes?: ChangeProbe;
  /** Check whether a process holds the write lock of a file. */
  locks?: readonly LockProbe[];
  logs?: readonly WriteAheadLog[];
  /** Disk space that is reserved for deletions. */
  ballast?: Ballast;
  /** Reads single entries; by default `reader`, which a `ReadQueue` merges unless it reads with SQLite. */
  reads?: EntryReader;
  /** Reads single records through a memory map while nothing is written. */
  mapped?: KvReader | undefined;
  /** Reads from the disk, never through a memory map; by default `reader`. */
  diskReader?: KvReader;
  /** What the operator should know about this store, as a sentence. */
  notice?: string | undefined;
  /** What the readers report unreadable entries to. */
  unreadable?: UnreadableEntries;
  /** Handles and locks that `close` disposes of. */
  resources?: Disposable | AsyncDisposable;
}

/** What reads and writes the chunks of files and their checksums. */
export interface ByteEntries {
  /** Whether they are in a file of their own: then no commit spans chunks and records. */
  isSeparate: boolean;
  /** Lists chunks. */
  reader: KvReader;
  reads: EntryReader;
  /** See `Database.diskReader`. */
  diskReader: KvReader;
  /** Commits without the ballast. */
  commits: Commits;
}

/**
 * A Deno KV store with one entrance for each kind of work.
 *
 * - **Records**: single entries (`reads`), which Deno KV gets merged into one read per turn of the event loop
 *   (`ReadQueue`), and lists (`reader`).
 * - **Bytes** (`bytes`): the chunks of files and their checksums, which a store in files has in one of their own, so that
 *   large writes and small ones do not wait for each other.
 * - **Small commits** (`commit`): merged into groups (`GroupCommitter`), because every commit costs a sync of the disk.
 * - **Bulk commits** (`commitBulk`): many changes of records each, by background work.
 * - **Commits of bytes** (`commitBytes`). They precede the commit of records that publishes the bytes, and their deletion
 *   precedes that of the record that remembers it, as one commit changes either bytes or records.
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
  readonly bytes: ByteEntries;
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
  readonly logs: readonly WriteAheadLog[];
  readonly ballast: Ballast | undefined;
  /** Commits without grouping and without the ballast, and the store's limits. */
  readonly commits: Commits;
  /** Versions whose bytes this process is writing. */
  readonly writing: Set<string> = new Set<string>();
  /** Receives every commit. */
  meter: StoreMeter = NO_METER;
  /** Receive the feeds that a commit of this process has added to. */
  readonly onAnnounced: Set<(feeds: Deno.KvKey[]) => void> = new Set();
  readonly #locks: readonly LockProbe[];
  readonly #resources: Disposable | AsyncDisposable | undefined;
  readonly #groups: GroupCommitter;
  readonly #bulkCommits: Commits;
  readonly #byteCommits: Commits;
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
    const { changes, locks = [], logs = [], ballast, resources, bytes } = parts;
    this.notice = parts.notice;
    this.unreadable = parts.unreadable ?? new UnreadableEntries();
    this.changes = changes;
    this.logs = logs;
    this.ballast = ballast;
    this.#locks = locks;
    this.#resources = resources;
    this.reader = reader;
    const { mapped } = parts;
    this.reads = parts.reads ??
      entryReader(reader, () => mapped !== undefined && this.#isQuiet() ? mapped : reader);
    this.diskReader = parts.diskReader ?? reader;
    this.bytes = bytes === undefined
      ? { isSeparate: false, reader, reads: this.reads, diskReader: this.diskReader, commits }
      : { ...bytes, isSeparate: true, reads: entryReader(bytes.reader) };
    this.commits = meteredCommits(commits, this);
    const withBallast = (commits: Commits, kept: number) =>
      ballast === undefined ? commits : commitsWithBallast(commits, ballast, kept);
    this.#groups = new GroupCommitter(reader, withBallast(this.commits, 0));
    this.#bulkCommits = withBallast(this.commits, PIECES_FOR_USERS);
    this.#byteCommits = bytes === undefined
      ? this.#bulkCommits
      : withBallast(meteredCommits(this.bytes.commits, this), PIECES_FOR_USERS);
    this.#bulk = new Semaphore(this.commits.bulk);
  }

  /** Whether commits are in flight or waiting. */
  get isCommitting(): boolean {
    return this.#running.size > 0;
  }

  /** Commits a small operation, grouped with others that wait at the same time. */
  commit(operation: Operation): Promise<Outcome> {
    return this.#track(operation, () => this.#groups.commit(operation));
  }

  /**
   * Commits an operation with many changes of records, alone. If the answer of a remote store is lost, an idempotent
   * operation may be committed twice.
   */
  commitBulk(operation: Operation): Promise<Outcome> {
    return this.#commitAlone(this.#bulkCommits, operation, this.#background);
  }

  /**
   * Commits an operation that sets or deletes chunks and checksums, and nothing else, like `commitBulk`.
   *
   * @param kind Background work has slots of its own, so that uploads never delay it.
   */
  commitBytes(operation: Operation, kind: "upload" | "background" = "upload"): Promise<Outcome> {
    const slots = kind === "upload" ? this.#bulk : this.#background;
    return this.#commitAlone(this.#byteCommits, operation, slots);
  }

  #commitAlone(commits: Commits, operation: Operation, slots: Semaphore): Promise<Outcome> {
    const commit = operation.isIdempotent ? commits.idempotent : commits.once;
    return this.#track(operation, () => slots.run(() => commit(operation)));
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
    while (this.#lastCommit < start && !this.#locks.every((each) => each.isFree())) {
      await delay(LOCKED_RETRY_MAX_DELAY, { signal });
    }
  }

  /** Refuses new commits, waits for those in flight, and closes the store. */
  async close(): Promise<void> {
    this.#isClosing = true;
    while (this.#running.size > 0) await Promise.allSettled(this.#running);
    await using _closed = this.#resources;
  }

  /** Returns whether this process has committed nothing for `QUIET_TIME`. */
  #isQuiet(): boolean {
    return !this.isCommitting && performance.now() - this.#lastCommit > QUIET_TIME;
  }

  #track(operation: Operation, start: () => Promise<Outcome>): Promise<Outcome> {
    if (this.#isClosing) return Promise.reject(new StoreUnavailable("The store is being closed"));
    const work = start();
    this.#running.add(work);
    const forget = () => void this.#running.delete(work);
    work.then((outcome) => {
      forget();
      if (!outcome.ok) return;
      this.#lastCommit = performance.now();
      const { feeds } = operation;
      if (feeds.length > 0) { for (const receive of this.onAnnounced) receive(feeds); }
    }, forget);
    return work;
  }
}

/**
 * Returns what reads single entries. Reads with SQLite are not merged: they do not wait for a thread.
 *
 * @param choose Chooses the reader of each read.
 */
function entryReader(reader: KvReader, choose = () => reader): EntryReader {
  if (reader.getReferenced === undefined) return new ReadQueue(reader);
  return {
    get: (keys) => choose().getMany(keys),
    getReferenced: (key, referenceOf) => readReferenced(choose(), key, referenceOf),
    getAround: (keys, ranges) => readAround(choose(), keys, ranges),
  };
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

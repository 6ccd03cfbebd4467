import { DatabaseSync } from "node:sqlite";
import { join } from "@std/path";
import { delay } from "@std/async/delay";
import { LOCKED_RETRY_MAX_DELAY } from "../drive/limits.ts";
import { ChangeProbe } from "./change_probe.ts";
import type { Outcome } from "./commit.ts";
import { type Commits, embeddedCommits, meteredCommits } from "./commits.ts";
import { CannotOpenStore, StoreUnavailable } from "./errors.ts";
import { FolderLock } from "./folder_lock.ts";
import { GroupCommitter } from "./group_commit.ts";
import { keys } from "./keys.ts";
import { LockProbe } from "./lock_probe.ts";
import type { Operation } from "./operation.ts";
import { ReadQueue } from "./read_queue.ts";
import { Semaphore } from "./semaphore.ts";
import { NO_METER, type StoreMeter } from "./store_meter.ts";

/** The name of the store's file inside the data folder. */
const FILE = "kvdrive.db";

/** Files of the users: nobody else on the machine reads them. */
const FOLDER_MODE = 0o700;

/** What differs from store to store. */
interface Ways {
  /** Tells whether the store changes; a store that is no file has none. */
  changes?: ChangeProbe;
  /** Tells whether somebody holds the store's lock; a store that is no file has none. */
  locks?: LockProbe;
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
  /** What the store can take. */
  readonly commits: Commits;
  /** Is told of every commit. */
  meter: StoreMeter = NO_METER;
  readonly #writer: Deno.Kv;
  readonly #groups: GroupCommitter;
  readonly #bulk: Semaphore;
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
    { changes, locks, inUse, commits, reads, onClose = () => {} }: Ways = {},
  ) {
    this.changes = changes;
    this.#locks = locks;
    this.#inUse = inUse;
    this.reader = reader;
    this.reads = new ReadQueue(reader, reads);
    this.#writer = writer;
    const retried = () => this.meter.retried();
    this.commits = meteredCommits(commits ?? embeddedCommits(writer, retried), this);
    this.#groups = new GroupCommitter(writer, this.commits);
    this.#bulk = new Semaphore(this.commits.bulk);
    this.#onClose = onClose;
  }

  /** Commits a small operation, together with others that wait at the same time. */
  commit(operation: Operation): Promise<Outcome> {
    return this.#track(() => this.#groups.commit(operation));
  }

  /**
   * Commits an operation with many bytes or many changes. Few of them run at once. Done twice, where the store's answer
   * was lost, it has to be as done once, unless it counts or demands the state of what it changes.
   */
  commitBulk(operation: Operation): Promise<Outcome> {
    const { once, again } = this.commits;
    const commit = operation.counts || operation.changesItsChecks ? once : again;
    return this.#track(() => this.#bulk.run(() => commit(operation)));
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

/** The store's file in a folder. */
export function databasePath(folder: string): string {
  return join(folder, FILE);
}

/** Bytes of the store's file in a folder, with its write-ahead log; `undefined` where it may not be looked at. */
export async function databaseSize(folder: string): Promise<number | undefined> {
  const path = databasePath(folder);
  const sizes = await Promise.all([path, `${path}-wal`].map(sizeOf));
  return sizes.reduce((sum, size) =>
    sum === undefined || size === undefined ? undefined : sum + size
  );
}

async function sizeOf(path: string): Promise<number | undefined> {
  try {
    return (await Deno.stat(path)).size;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return 0;
    if (error instanceof Deno.errors.NotCapable) return undefined;
    throw error;
  }
}

/**
 * Opens the store in a folder, and makes both where they don't exist.
 *
 * @throws {CannotOpenStore} if the folder or the file cannot be made, read or written.
 */
export async function openDatabase(folder: string): Promise<Database> {
  const path = databasePath(folder);
  const handles: Deno.Kv[] = [];
  let lock: FolderLock | undefined;
  try {
    await Deno.mkdir(folder, { recursive: true, mode: FOLDER_MODE });
    lock = await FolderLock.take(folder, "shared");
    if (lock === undefined) throw new Error("a backup is being restored there");
    createFile(path);
    const writer = await Deno.openKv(path);
    handles.push(writer);
    const reader = await Deno.openKv(path);
    handles.push(reader);
    // The first statement is what reads the file.
    await reader.get([""]);
    return new Database(reader, writer, {
      changes: new ChangeProbe(path),
      locks: new LockProbe(path),
      inUse: lock,
    });
  } catch (error) {
    for (const handle of handles) handle.close();
    lock?.[Symbol.dispose]();
    const reason = error instanceof Error ? error.message : String(error);
    throw new CannotOpenStore(`Cannot open the store in ${folder}: ${reason}`, { cause: error });
  }
}

/** The file gives space back only if it was created for that, before Deno KV makes its tables in it. */
function createFile(path: string): void {
  const sqlite = new DatabaseSync(path);
  try {
    sqlite.exec("PRAGMA busy_timeout = 5000");
    const tables = sqlite.prepare("SELECT count(*) AS n FROM sqlite_master").get()?.n;
    // A first table fixes the mode in the file. (`VACUUM` would too, but needs all permissions of the runtime.)
    if (tables === 0) {
      sqlite.exec("PRAGMA auto_vacuum = INCREMENTAL; CREATE TABLE first (x); DROP TABLE first");
    }
  } finally {
    sqlite.close();
  }
}

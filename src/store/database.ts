import { DatabaseSync } from "node:sqlite";
import { join } from "@std/path";
import { delay } from "@std/async/delay";
import { LOCKED_RETRY_MAX_DELAY } from "../drive/limits.ts";
import { failureReason } from "../drive/reason.ts";
import { Ballast, PIECES_FOR_USERS } from "./ballast.ts";
import { ChangeProbe } from "./change_probe.ts";
import type { Outcome } from "./commit.ts";
import { type Commits, commitsWithBallast, embeddedCommits, meteredCommits } from "./commits.ts";
import { CannotOpenStore, StoreUnavailable } from "./errors.ts";
import { companionsOf, isOutOfSpace, makePrivate, PRIVATE_MODE } from "./durable_file.ts";
import { FolderLock } from "./folder_lock.ts";
import { GroupCommitter } from "./group_commit.ts";
import { keys } from "./keys.ts";
import { LockProbe } from "./lock_probe.ts";
import type { Operation } from "./operation.ts";
import { ReadQueue } from "./read_queue.ts";
import { Semaphore } from "./semaphore.ts";
import { StoreLog } from "./store_log.ts";
import { NO_METER, type StoreMeter } from "./store_meter.ts";

/** The name of the store's file inside the data folder. */
const FILE = "kvdrive.db";

/** Files of the users: nobody else on the machine reads them. */
const FOLDER_MODE = 0o700;

/** Bulk commits of the background at once: one that reclaims bytes and one that removes a drive or a project. */
const BACKGROUND_COMMITS = 2;

/** What differs from store to store. */
interface Ways {
  /** Tells whether the store changes; a store that is no file has none. */
  changes?: ChangeProbe;
  /** Tells whether somebody holds the store's lock; a store that is no file has none. */
  locks?: LockProbe;
  /** Tells what the store's log needs of the disk; a store that is no file has none. */
  log?: StoreLog;
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
  readonly log: StoreLog | undefined;
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
    const { once, again } = this.#bulkCommits;
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
 * Opens the store in a folder, and makes both where they don't exist. On a full disk it gives up ballast for that.
 *
 * @throws {CannotOpenStore} if the folder or the file cannot be made, read or written.
 */
export async function openDatabase(folder: string): Promise<Database> {
  let lock: FolderLock | undefined;
  try {
    await Deno.mkdir(folder, { recursive: true, mode: FOLDER_MODE });
    lock = await FolderLock.take(folder, "shared");
    if (lock === undefined) throw new Error("a backup is being restored there");
    const ballast = new Ballast(folder);
    while (await ballast.isDiskFull() && ballast.giveUp());
    while (true) {
      try {
        return await openFile(databasePath(folder), { ballast, inUse: lock });
      } catch (error) {
        if (!isLackOfSpace(error) || !ballast.giveUp()) throw error;
      }
    }
  } catch (error) {
    lock?.[Symbol.dispose]();
    throw new CannotOpenStore(`Cannot open the store in ${folder}: ${openProblem(error)}`, {
      cause: error,
    });
  }
}

async function openFile(path: string, ways: Ways): Promise<Database> {
  const opened: (Deno.Kv | Disposable)[] = [];
  const keep = <T extends Deno.Kv | Disposable>(resource: T): T => {
    opened.push(resource);
    return resource;
  };
  try {
    await makePrivate([path, ...companionsOf(path)]);
    createFile(path);
    const writer = keep(await Deno.openKv(path));
    const reader = keep(await Deno.openKv(path));
    // The first statement is what reads the file.
    await reader.get([""]);
    const changes = keep(new ChangeProbe(path));
    const log = keep(new StoreLog(path));
    return new Database(reader, writer, { ...ways, changes, log, locks: new LockProbe(path) });
  } catch (error) {
    for (const resource of opened) resource[Symbol.dispose]();
    throw error;
  }
}

/** Whether a store may have failed to open because the disk has no space or no inode for the log and its index. */
function isLackOfSpace(error: unknown): boolean {
  return isOutOfSpace(error) || error instanceof Error &&
      /disk is full|disk I\/O error|unable to open database file/.test(error.message);
}

/** The file gives space back only if it was created for that, before Deno KV makes its tables in it. */
function createFile(path: string): void {
  createPrivate(path);
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

/** SQLite gives the log and its index the mode that the store's file has. */
function createPrivate(path: string): void {
  try {
    Deno.openSync(path, { write: true, createNew: true, mode: PRIVATE_MODE }).close();
  } catch (error) {
    if (!(error instanceof Deno.errors.AlreadyExists)) throw error;
  }
}

/**
 * What to tell the operator if other users of the machine can look into the data folder, as a sentence; `undefined` if they
 * cannot. The store's own files are private in any case.
 */
export async function openFolderWarning(folder: string): Promise<string | undefined> {
  if (Deno.build.os === "windows") return undefined;
  const { mode } = await Deno.stat(folder);
  if (mode === null || (mode & 0o077) === 0) return undefined;
  const text = (mode & 0o777).toString(8);
  return `The data folder ${folder} is open to other users of this machine (mode ${text}): ` +
    `close it with chmod 700 ${folder}`;
}

/** What keeps a store from being opened, and what helps, as the end of a sentence. */
export function openProblem(error: unknown): string {
  const reason = failureReason(error);
  const advice = OPEN_ADVICE.find(([problem]) => problem.test(reason))?.[1];
  return advice === undefined ? reason : `${reason}; ${advice}`;
}

const OPEN_ADVICE: readonly [problem: RegExp, advice: string][] = [
  [
    /permission denied|unable to open database|readonly database/i,
    "give the folder and the files in it to the user who runs kvdrive (chown), or name another folder with --data",
  ],
  [
    /not a database|malformed|encrypted/i,
    "its file is damaged or another program's: restore a backup with kvdrive restore, or name another folder with --data",
  ],
  [/file exists|not a directory/i, "it is a file: name a folder with --data"],
  [/no space|disk is full/i, "free some space on the disk"],
  [/read-only file system/i, "name a folder that can be written to with --data"],
  [/no such file/i, "no folder can be made there: name another one with --data"],
];

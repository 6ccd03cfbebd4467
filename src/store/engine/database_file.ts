/**
 * A store in a file of this machine: opening it, its path and size, and what to tell the operator if it cannot be
 * opened.
 *
 * @module
 */
import { delay } from "@std/async/delay";
import { join } from "@std/path/join";
import { DatabaseSync } from "node:sqlite";
import { failureReason } from "../../rules/system_error.ts";
import { Ballast } from "../disk/ballast.ts";
import {
  companionsOf,
  fileSize,
  isOutOfSpace,
  makePrivate,
  PRIVATE_MODE,
  realPathOf,
} from "../disk/durable_file.ts";
import { FolderLock, type LockKind } from "../disk/file_lock.ts";
import { ChangeProbe, LockProbe } from "../disk/file_probes.ts";
import { MapMark } from "../disk/map_mark.ts";
import { settleReplaced } from "../disk/replaced_store.ts";
import { isLocked, LOCKED_RETRY_TIME } from "../disk/sqlite.ts";
import { WriteAheadLog } from "../disk/write_ahead_log.ts";
import type { ReadMode } from "../reads/read_mode.ts";
import type { KvReader } from "../reads/read_queue.ts";
import { recordReader, UnreadableEntries } from "../reads/record_codec.ts";
import { isKnownSchema, SqliteReader } from "../reads/sqlite_reader.ts";
import { embeddedCommits } from "./commits.ts";
import { Database, type DatabaseParts } from "./database.ts";
import { CannotOpenStore } from "./errors.ts";
import { type Convert, FORMAT, formatOf, formatProblem } from "./format.ts";

/** Name of the store's file in the data folder. */
const FILE = "kvdrive.db";

/** The folder holds files of users: only its owner may look into it. */
const FOLDER_MODE = 0o700;

/** The pause between two attempts to open a locked store, in milliseconds. */
const LOCKED_PAUSE = 20;

/**
 * Opens the store in a folder. Creates the folder and the store if they do not exist. On a full disk it releases
 * ballast to make room for the log.
 *
 * @param reads What reads the file, unless its form or an earlier crash forbid it.
 * @param convert Converts a store of an older format; without it such a store is refused.
 * @throws {CannotOpenStore} if the folder or the file cannot be created, read or written, or the store has another
 *   format.
 */
export async function openDatabase(
  folder: string,
  reads: ReadMode = "direct",
  convert?: Convert,
): Promise<Database> {
  try {
    const db = await openLocked(folder, "shared", reads);
    const format = await closingOnError(db, formatOf);
    const problem = formatProblem(format);
    if (problem === undefined) return db;
    await db.close();
    if (format > FORMAT || convert === undefined) throw new Error(problem);
    // No server of an older version may use the store meanwhile, and of several new ones one does the work.
    const alone = await openLocked(folder, "exclusive", "direct");
    await closingOnError(alone, convert);
    await alone.close();
  } catch (error) {
    throw new CannotOpenStore(`Cannot open the store in ${folder}: ${openProblem(error)}`, {
      cause: error,
    });
  }
  return await openDatabase(folder, reads);
}

async function closingOnError<T>(db: Database, work: (db: Database) => Promise<T>): Promise<T> {
  try {
    return await work(db);
  } catch (error) {
    await db.close();
    throw error;
  }
}

/** Opens the store once the folder is locked, until the database is closed. */
async function openLocked(folder: string, kind: LockKind, reads: ReadMode): Promise<Database> {
  await Deno.mkdir(folder, { recursive: true, mode: FOLDER_MODE });
  const lock = await FolderLock.take(folder, kind);
  if (lock === undefined) throw new Error(kind === "shared" ? BEING_REPLACED : IN_USE);
  try {
    await settleReplaced(await realPathOf(databasePath(folder)));
    const ballast = new Ballast(folder);
    while (await ballast.isDiskFull() && ballast.giveUp());
    const deadline = performance.now() + LOCKED_RETRY_TIME;
    while (true) {
      try {
        return await openFile(databasePath(folder), ballast, lock, reads);
      } catch (error) {
        // Deno KV does not wait for a process that creates its tables at the same moment.
        if (isLocked(error) && performance.now() < deadline) await delay(LOCKED_PAUSE);
        else if (!isLackOfSpace(error) || !ballast.giveUp()) throw error;
      }
    }
  } catch (error) {
    lock[Symbol.dispose]();
    throw error;
  }
}

const BEING_REPLACED = "a backup is being restored there, or the store is being converted to the " +
  "format of this version; wait for its end";

const IN_USE = "it has the format of an older version and must be converted, but another process " +
  "uses it; stop that process first";

/** @param lock Marks the folder as in use until the database is closed. */
async function openFile(
  path: string,
  ballast: Ballast,
  lock: FolderLock,
  reads: ReadMode,
): Promise<Database> {
  using opened = new DisposableStack();
  await makePrivate([path, ...companionsOf(path)]);
  await requireFileOfLog(path);
  createFile(path);
  const kv = opened.use(await Deno.openKv(path));
  const writer = opened.use(await Deno.openKv(path));
  // Deno KV makes its tables with the first statement.
  await kv.get([""]);
  const locks = opened.use(new LockProbe(path));
  const log = opened.use(new WriteAheadLog(path));
  const changes = opened.use(new ChangeProbe(path));
  const unreadable = new UnreadableEntries();
  const records = recordReader(kv, unreadable);
  const readers = await openReaders({ path, kv: records, unreadable }, reads, opened);
  const handles = opened.move();
  const resources = new DisposableStack();
  resources.use(lock);
  resources.use(handles);
  return new Database(readers.reader, embeddedCommits(writer, locks), {
    ...readers,
    diskReader: records,
    unreadable,
    changes,
    locks,
    log,
    ballast,
    resources,
  });
}

/** What reads a store's file, and what the operator should know about it, as a sentence. */
type Readers = Pick<DatabaseParts, "mapped" | "notice"> & { reader: KvReader };

/** Opens what reads the file, as fast as it can be read. */
async function openReaders(
  { path, kv, unreadable }: { path: string; kv: KvReader; unreadable: UnreadableEntries },
  mode: ReadMode,
  opened: DisposableStack,
): Promise<Readers> {
  if (mode === "kv") return { reader: kv };
  if (!isKnownSchema(path)) return { reader: kv, notice: UNKNOWN_SCHEMA };
  const mark = mode === "mapped" ? await MapMark.take(path) : undefined;
  const isMapped = mark instanceof MapMark;
  if (isMapped) opened.use(mark);
  const reader = opened.use(new SqliteReader(path, kv, { isMapped: false, unreadable }));
  const mapped = isMapped
    ? opened.use(new SqliteReader(path, kv, { isMapped, unreadable }))
    : reader;
  return {
    reader,
    mapped,
    ...mark === "abandoned" ? { notice: NOT_MAPPED } : {},
  };
}

const UNKNOWN_SCHEMA = "Deno KV has made the store in a form that this version of kvdrive does " +
  "not know: all reads go through Deno KV and are slower";

const NOT_MAPPED = "The last server on this store was killed or crashed. In case a sector that " +
  "the disk cannot read was the cause, files are read without a memory map, which is slower, " +
  "until the next restart";

/** Returns whether opening may have failed because the disk has no space or no inode for the log and its index. */
function isLackOfSpace(error: unknown): boolean {
  return isOutOfSpace(error) || error instanceof Error &&
      /disk is full|disk I\/O error|unable to open database file/.test(error.message);
}

/**
 * SQLite deletes the log of a file that is empty or missing, and with it the last writes of a store whose file was moved
 * away after a crash.
 *
 * @throws {Error} if there is a log without its file.
 */
async function requireFileOfLog(path: string): Promise<void> {
  // In this order: a process that creates the store at the same moment makes the file first.
  const hasLog = await fileSize(`${path}-wal`);
  if (!hasLog || await fileSize(path)) return;
  throw new Error(
    `${path}-wal has the last writes of a store, but ${path} is missing or empty; put the file back, ` +
      "restore a backup with kvdrive restore --force, or name another folder with --data",
  );
}

/** Creates the file in a mode that can return space to the disk, which must precede the first table of Deno KV. */
function createFile(path: string): void {
  createPrivate(path);
  const sqlite = new DatabaseSync(path);
  try {
    sqlite.exec(`PRAGMA busy_timeout = ${LOCKED_RETRY_TIME}; PRAGMA auto_vacuum = INCREMENTAL`);
    sqlite.exec("BEGIN IMMEDIATE");
    const tables = sqlite.prepare("SELECT count(*) AS n FROM sqlite_master").get()?.n;
    // A first table writes the mode into the file. (`VACUUM` would too, but needs all permissions of the runtime.)
    if (tables === 0) sqlite.exec("CREATE TABLE first (x); DROP TABLE first");
    sqlite.exec("COMMIT");
  } finally {
    sqlite.close();
  }
}

/** Creates an empty private file. SQLite gives the log and its index the same mode. */
function createPrivate(path: string): void {
  try {
    Deno.openSync(path, { write: true, createNew: true, mode: PRIVATE_MODE }).close();
  } catch (error) {
    if (!(error instanceof Deno.errors.AlreadyExists)) throw error;
  }
}

/** Returns the path of the store's file in a folder. */
export function databasePath(folder: string): string {
  return join(folder, FILE);
}

/** Returns the bytes of the store's file and its write-ahead log; `undefined` without the permission to read them. */
export async function databaseSize(folder: string): Promise<number | undefined> {
  const path = databasePath(folder);
  try {
    const sizes = await Promise.all([path, `${path}-wal`].map(fileSize));
    return sizes.reduce<number>((sum, size) => sum + (size ?? 0), 0);
  } catch (error) {
    if (error instanceof Deno.errors.NotCapable) return undefined;
    throw error;
  }
}

/**
 * Returns a warning, as a sentence, if other users of the machine can look into the data folder; `undefined` if they
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

/** Returns why a store cannot be opened and what helps, as the end of a sentence. */
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
    "the file is damaged or belongs to another program: restore a backup with kvdrive restore, " +
    "or name another folder with --data",
  ],
  [/file exists|not a directory/i, "it is a file: name a folder with --data"],
  [/no space|disk is full/i, "free some space on the disk"],
  [/read-only file system/i, "name a writable folder with --data"],
  [/no such file/i, "the folder cannot be created there: name another one with --data"],
];

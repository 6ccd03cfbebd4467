/**
 * A store in files of this machine: opening it, and converting a store of another form before.
 *
 * @module
 */
import { delay } from "@std/async/delay";
import { Ballast } from "../disk/ballast.ts";
import { companionsOf, makePrivate, realPathOf, removeDatabase } from "../disk/durable_file.ts";
import { FolderLock, type LockKind } from "../disk/file_lock.ts";
import { ChangeProbe, LockProbe } from "../disk/file_probes.ts";
import { MapMark } from "../disk/map_mark.ts";
import { settleReplaced } from "../disk/replaced_store.ts";
import { isLocked, LOCKED_RETRY_TIME } from "../disk/sqlite.ts";
import {
  byteFilePath,
  createByteFile,
  createRecordFile,
  databasePath,
  isLackOfSpace,
  newByteFile,
  openProblem,
  requireByteFile,
  requireFileOfLog,
  requireRecordFile,
} from "../disk/store_files.ts";
import { WriteAheadLog } from "../disk/write_ahead_log.ts";
import type { ReadMode } from "../reads/read_mode.ts";
import type { KvReader } from "../reads/read_queue.ts";
import { recordReader, UnreadableEntries } from "../reads/record_codec.ts";
import { isKnownSchema, SqliteReader } from "../reads/sqlite_reader.ts";
import { ThreadReader } from "../reads/thread_reader.ts";
import { type Commits, commitsToCounters, embeddedCommits } from "./commits.ts";
import { Database } from "./database.ts";
import { CannotOpenStore } from "./errors.ts";
import { type Convert, FORMAT, formatOf, formatProblem, isEmpty, setFormat } from "./format.ts";
import { keys, prefixes } from "./keys.ts";
import { BYTE_KINDS } from "./records/kinds.ts";
import { Operation } from "./operation.ts";

/** The folder holds files of users: only its owner may look into it. */
const FOLDER_MODE = 0o700;

/** The pause between two attempts to open a locked store, in milliseconds. */
const LOCKED_PAUSE = 20;

/**
 * Opens the store in a folder. Creates the folder and the store if they do not exist. On a full disk it releases
 * ballast to make room for the log.
 *
 * @param reads What reads the files, unless their form or an earlier crash forbid it.
 * @param convert Converts a store of an older format, or one in a single file; without it such a store is refused.
 * @throws {CannotOpenStore} if the folder or the files cannot be created, read or written, or the store has another
 *   format.
 */
export async function openDatabase(
  folder: string,
  reads: ReadMode = "direct",
  convert?: Convert,
): Promise<Database> {
  try {
    const db = await openLocked(folder, "shared", reads);
    const problem = await closingOnError(db, problemOf);
    if (problem === undefined) return db;
    if (!problem.isFinal) await closingOnError(db, async () => await convert?.requireSpace?.(db));
    await db.close();
    if (problem.isFinal || convert === undefined) throw new Error(problem.text);
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

/** Returns why a store cannot be used as it is, as the end of a sentence, and whether no conversion helps. */
async function problemOf(db: Database): Promise<{ text: string; isFinal: boolean } | undefined> {
  const format = await formatOf(db);
  const text = formatProblem(format);
  if (text !== undefined) return { text, isFinal: format > FORMAT };
  return await isSeparated(db) ? undefined : { text: IN_ONE_FILE, isFinal: false };
}

const IN_ONE_FILE = "it is in one file, like a backup, and is separated into two when a server " +
  "starts; start the server once";

/** Returns whether the chunks have a file of their own, and none is left among the records. */
async function isSeparated(db: Database): Promise<boolean> {
  if (!db.bytes.isSeparate) return false;
  for (const kind of BYTE_KINDS) {
    const first = db.reader.list({ prefix: prefixes.all(kind) }, { limit: 1, unreadable: true });
    for await (const _ of first) return false;
  }
  return true;
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
    const path = databasePath(folder);
    await settleReplaced(await realPathOf(path));
    const ballast = new Ballast(folder);
    while (await ballast.isDiskFull() && ballast.giveUp());
    const deadline = performance.now() + LOCKED_RETRY_TIME;
    while (true) {
      try {
        await requireFileOfLog(path);
        await requireRecordFile(path);
        return await openFiles(path, { ballast, lock, reads, separates: kind === "exclusive" });
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

interface OpenOptions {
  ballast: Ballast;
  /** Marks the folder as in use until the database is closed. */
  lock: FolderLock;
  reads: ReadMode;
  /** Whether a store in one file gets a second one for its chunks. */
  separates: boolean;
}

/** @param path The file of the records. */
async function openFiles(
  path: string,
  { ballast, lock, reads, separates }: OpenOptions,
): Promise<Database> {
  await using opened = new AsyncDisposableStack();
  const unreadable = new UnreadableEntries();
  createRecordFile(path);
  const mark = reads === "mapped" ? await takeMark(path, opened) : undefined;
  const mode = reads === "mapped" && !(mark instanceof MapMark) ? "direct" : reads;
  const records = await openFile(path, { reads: mode, unreadable }, opened);
  const changes = opened.use(new ChangeProbe(path));
  const bytePath = await byteFileOf(path, records, separates);
  const bytes = bytePath === undefined
    ? undefined
    : await openFile(bytePath, { reads: mode, unreadable }, opened);
  const handles = opened.move();
  const resources = new AsyncDisposableStack();
  resources.use(lock);
  resources.use(handles);
  const files = [records, ...bytes === undefined ? [] : [bytes]];
  const notice = files.some(({ isKnown }) => !isKnown)
    ? UNKNOWN_SCHEMA
    : mark === "abandoned"
    ? NOT_MAPPED
    : undefined;
  return new Database(records.reader, records.commits, {
    bytes: bytes && { ...bytes, reader: bytes.mapped ?? bytes.reader },
    mapped: records.mapped,
    diskReader: records.diskReader,
    unreadable,
    changes,
    locks: files.map(({ locks }) => locks),
    logs: files.map(({ log }) => log),
    ballast,
    resources,
    notice,
  });
}

async function takeMark(path: string, opened: AsyncDisposableStack): Promise<MapMark | string> {
  const mark = await MapMark.take(path);
  if (mark instanceof MapMark) opened.use(mark);
  return mark;
}

/** One SQLite file, and what reads and writes it. */
interface DatabaseFile {
  reader: KvReader;
  /** Reads through a memory map. */
  mapped: KvReader | undefined;
  diskReader: KvReader;
  commits: Commits;
  locks: LockProbe;
  log: WriteAheadLog;
  /** Whether Deno KV has made its tables in the form that `SqliteReader` reads. */
  isKnown: boolean;
}

async function openFile(
  path: string,
  { reads, unreadable }: { reads: ReadMode; unreadable: UnreadableEntries },
  opened: AsyncDisposableStack,
): Promise<DatabaseFile> {
  await makePrivate([path, ...companionsOf(path)]);
  const kv = opened.use(await Deno.openKv(path));
  const writer = opened.use(await Deno.openKv(path));
  // Deno KV makes its tables with the first statement.
  await kv.get([""]);
  const locks = opened.use(new LockProbe(path));
  const log = opened.use(new WriteAheadLog(path));
  const isKnown = isKnownSchema(path);
  const isDirect = reads !== "kv" && isKnown;
  const diskReader = isDirect
    ? opened.use(new ThreadReader(path, unreadable))
    : recordReader(kv, unreadable);
  const read = (isMapped: boolean) =>
    opened.use(new SqliteReader(path, diskReader, { isMapped, unreadable }));
  const direct = isDirect ? read(false) : undefined;
  const mapped = isDirect && reads === "mapped" ? read(true) : undefined;
  const plain = embeddedCommits(writer, locks);
  const commits = direct === undefined ? plain : commitsToCounters(plain, direct);
  return { reader: direct ?? diskReader, mapped, diskReader, commits, locks, log, isKnown };
}

/** Makes Deno KV create its tables, which it does with the first statement. */
export async function createTables(path: string): Promise<void> {
  using kv = await Deno.openKv(path);
  await kv.get([""]);
}

/**
 * Returns the path of the file with the chunks; `undefined` for a store in one file. A new store gets one.
 *
 * @param path The file of the records.
 * @param separates Whether a store in one file gets one, too.
 */
async function byteFileOf(
  path: string,
  { reader, commits }: Pick<DatabaseFile, "reader" | "commits">,
  separates: boolean,
): Promise<string | undefined> {
  while (true) {
    // In this order: who makes a store writes this entry before anything else.
    const isNew = await isEmpty(reader);
    const { key, value, versionstamp } = await reader.get(keys.byteFile());
    if (versionstamp !== null) {
      const found = byteFilePath(path, value);
      await requireFileOfLog(found);
      requireByteFile(found);
      return found;
    }
    if (!isNew && !separates) return undefined;
    const name = newByteFile();
    const created = byteFilePath(path, name);
    createByteFile(created);
    // Readers expect the tables of a file that the records name.
    await createTables(created);
    const operation = new Operation().check(key, null).set(key, name);
    if (isNew) {
      setFormat(operation.check(keys.format(), null), FORMAT);
      operation.set(keys.storeId(), crypto.randomUUID());
    }
    if ((await commits.once(operation)).ok) return created;
    // Another process was faster.
    removeDatabase(created);
  }
}

const UNKNOWN_SCHEMA = "Deno KV has made the store in a form that this version of kvdrive does " +
  "not know: all reads go through Deno KV and are slower";

const NOT_MAPPED = "The last server on this store was killed or crashed. In case a sector that " +
  "the disk cannot read was the cause, files are read without a memory map, which is slower, " +
  "until the next restart";

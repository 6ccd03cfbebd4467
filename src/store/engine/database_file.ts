import { join } from "@std/path";
import { DatabaseSync } from "node:sqlite";
import { failureReason } from "../../rules/system_error.ts";
import { Ballast } from "../disk/ballast.ts";
import { companionsOf, isOutOfSpace, makePrivate, PRIVATE_MODE } from "../disk/durable_file.ts";
import { FolderLock } from "../disk/file_lock.ts";
import { ChangeProbe, LockProbe } from "../disk/file_probes.ts";
import { WriteAheadLog } from "../disk/write_ahead_log.ts";
import { Database, Ways } from "./database.ts";
import { CannotOpenStore } from "./errors.ts";

/** The name of the store's file inside the data folder. */
const FILE = "kvdrive.db";

/** Files of the users: nobody else on the machine reads them. */
const FOLDER_MODE = 0o700;

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
    const log = keep(new WriteAheadLog(path));
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

/**
 * The two SQLite files of a store: one with its records and small contents, and one with the chunks of larger files.
 * Their names, how they are created, and what to tell the operator if they cannot be opened.
 *
 * @module
 */
import { basename } from "@std/path/basename";
import { dirname } from "@std/path/dirname";
import { join } from "@std/path/join";
import { existsSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { failureReason } from "../../rules/system_error.ts";
import { KIB } from "../../rules/units.ts";
import { fileSize, isOutOfSpace, PRIVATE_MODE } from "./durable_file.ts";
import { LOCKED_RETRY_TIME, withSqlite } from "./sqlite.ts";

/** The file of the records in the data folder. */
const RECORD_FILE = "kvdrive.db";

/**
 * The file of the chunks. Its name is unique and stands in the records: replacing the file of the records replaces both
 * in one step, and no records are ever used with the chunks of another store.
 */
const BYTE_FILE = /^kvdrive-bytes-([0-9a-f]{8})\.db$/;

/**
 * The size of a page, fixed when a file is created. Pages of 4 KiB waste the least with small files. Chunks of 64 KiB are
 * written 1.6 times and read 1.5 times as fast in pages of 16 KiB, and take 1.4 % more.
 */
const RECORD_PAGE = 4 * KIB;
const BYTE_PAGE = 16 * KIB;

/** Returns the path of the records' file in a folder. */
export function databasePath(folder: string): string {
  return join(folder, RECORD_FILE);
}

/** Returns a new name for a file of chunks. */
export function newByteFile(): string {
  return `kvdrive-bytes-${crypto.randomUUID().slice(0, 8)}.db`;
}

/**
 * Returns the path of the file with the chunks.
 *
 * @param path The records' file.
 * @param name Its name in the records. That of a forged backup must not lead to another folder.
 * @throws {Error} for any other name.
 */
export function byteFilePath(path: string, name: unknown): string {
  if (typeof name !== "string" || !BYTE_FILE.test(name)) {
    throw new Error(`its records name ${JSON.stringify(name)} as the file with the bytes of files`);
  }
  return join(dirname(path), name);
}

/** Returns whether a file has the name of one with chunks, also of a store that was replaced. */
export function isByteFile(path: string): boolean {
  return BYTE_FILE.test(basename(path));
}

export function createByteFile(path: string): void {
  createFile(path, BYTE_PAGE, idOf(path));
}

/** Creates a file of records unless it exists. */
export function createRecordFile(path: string): void {
  createFile(path, RECORD_PAGE, 0);
}

/** Returns the number in the header of a file of chunks, so that no other one is used under its name. */
function idOf(path: string): number {
  const [, digits = ""] = BYTE_FILE.exec(basename(path)) ?? [];
  return parseInt(digits, 16) | 0;
}

/**
 * Creates the file in a mode that can return space to the disk, which must precede the first table of Deno KV.
 *
 * @param id The `application_id` in its header (sqlite.org/fileformat.html, 1.3.17).
 */
function createFile(path: string, pageSize: number, id: number): void {
  createPrivate(path);
  const sqlite = new DatabaseSync(path);
  try {
    sqlite.exec(
      `PRAGMA busy_timeout = ${LOCKED_RETRY_TIME}; PRAGMA page_size = ${pageSize}; ` +
        "PRAGMA auto_vacuum = INCREMENTAL",
    );
    sqlite.exec("BEGIN IMMEDIATE");
    const tables = sqlite.prepare("SELECT count(*) AS n FROM sqlite_master").get()?.n;
    // A first table writes the mode into the file. (`VACUUM` would too, but needs all permissions of the runtime.)
    if (tables === 0) {
      sqlite.exec(`CREATE TABLE first (x); DROP TABLE first; PRAGMA application_id = ${id}`);
    }
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

/**
 * SQLite deletes the log of a file that is empty or missing, and with it the last writes of a store whose file was moved
 * away after a crash.
 *
 * @throws {Error} if there is a log without its file.
 */
export async function requireFileOfLog(path: string): Promise<void> {
  // In this order: a process that creates the store at the same moment makes the file first.
  const hasLog = await fileSize(`${path}-wal`);
  if (!hasLog || await fileSize(path)) return;
  throw new Error(
    `${path}-wal has the last writes of a store, but ${path} is missing or empty; ${ADVICE}`,
  );
}

/**
 * A new store would be made beside the chunks of one whose records were moved away.
 *
 * @param path The records' file.
 * @throws {Error} if there are chunks without records.
 */
export async function requireRecordFile(path: string): Promise<void> {
  // In this order: a process that creates the store at the same moment makes the records first.
  const names = await Array.fromAsync(Deno.readDir(dirname(path)), ({ name }) => name);
  const bytes = names.find(isByteFile);
  if (bytes === undefined || await fileSize(path)) return;
  throw new Error(
    `${
      join(dirname(path), bytes)
    } has the bytes of a store, but ${path} is missing or empty; ${ADVICE}`,
  );
}

/** What helps if a file of a store is missing. */
const ADVICE =
  "put the file back, restore a backup with kvdrive restore --force, or name another " +
  "folder with --data";

/** @throws {Error} if the file with the chunks of a store is missing, or another one has its name. */
export function requireByteFile(path: string): void {
  if (!existsSync(path)) {
    throw new Error(`the bytes of its files are in ${path}, which is missing; ${ADVICE}`);
  }
  const id = withSqlite(path, (sqlite) => {
    sqlite.exec(`PRAGMA busy_timeout = ${LOCKED_RETRY_TIME}`);
    return sqlite.prepare("PRAGMA application_id").get()?.["application_id"];
  });
  if (id === idOf(path)) return;
  throw new Error(
    `the bytes of its files were in ${path}, which is empty or the file of another store; ${ADVICE}`,
  );
}

/**
 * Returns the bytes of a store's files and their write-ahead logs; `undefined` without the permission to read them.
 *
 * @param paths The files.
 */
export async function databaseSize(paths: readonly string[]): Promise<number | undefined> {
  try {
    const sizes = await Promise.all(paths.flatMap((path) => [path, `${path}-wal`]).map(fileSize));
    return sizes.reduce<number>((sum, size) => sum + (size ?? 0), 0);
  } catch (error) {
    if (error instanceof Deno.errors.NotCapable) return undefined;
    throw error;
  }
}

/** Returns whether opening may have failed because the disk has no space or no inode for the log and its index. */
export function isLackOfSpace(error: unknown): boolean {
  return isOutOfSpace(error) || error instanceof Error &&
      /disk is full|disk I\/O error|unable to open database file/.test(error.message);
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
    `close it with \`chmod 700 ${folder}\``;
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

import { dirname } from "@std/path/dirname";
import { failureReason } from "../../rules/system_error.ts";
import { formatBytes, MIB } from "../../rules/units.ts";
import {
  companionsOf,
  exists,
  fileSize,
  makePrivate,
  removeIfExists,
  syncFile,
  syncFolder,
  TemporaryFile,
} from "../disk/durable_file.ts";
import { FolderLock } from "../disk/file_lock.ts";
import { restoreFiles, unpackFiles } from "../disk/kept_files.ts";
import { isLocked, withSqlite } from "../disk/sqlite.ts";
import { freeBytesOf } from "../disk/volume.ts";
import { databasePath } from "../engine/database_file.ts";
import { CannotRestore } from "../engine/errors.ts";

export interface RestoreOptions {
  /** The backup, which is only read. */
  file: string;
  /** The store's folder. It is created if it does not exist. */
  folder: string;
  /** Whether an existing store is replaced. */
  overwrites: boolean;
  /** Bytes of the disk that must stay free. */
  reserve: number;
  /** Receives the bytes copied so far, and the bytes in all. */
  onCopied?: (done: number, total: number) => void;
  /** Receives the name under which the copy is made, once this process has claimed it. */
  onClaimed?: (temporary: string) => void;
  /** Checks the copy; throws if it must not become the store. */
  check: (path: string) => Promise<void>;
}

/** Bytes that are copied at once. */
const COPY_BYTES = MIB;

/** Follows the store's name in the name of a store that was replaced. */
const REPLACED = ".replaced-";

/** How long SQLite waits for another connection before the store counts as in use, in milliseconds. */
const IN_USE_TIMEOUT = 500;

/**
 * Restores a backup as the store of a folder and keeps the replaced store, complete, beside it. Whenever it is
 * interrupted, the folder has the replaced store or the new one.
 *
 * @returns The file of the replaced store; `undefined` if there was none.
 * @throws {CannotRestore} if the backup cannot be restored: nothing has changed.
 */
export async function restore(options: RestoreOptions): Promise<string | undefined> {
  const { folder, file } = options;
  try {
    const size = await fileSize(file);
    if (size === undefined) throw new CannotRestore(`There is no backup ${file}`);
    await Deno.mkdir(folder, { recursive: true, mode: 0o700 });
    using lock = await FolderLock.take(folder, "exclusive");
    if (lock === undefined) throw inUse(folder);
    await requireRestorable(options, size);
    return await replaceStore(options);
  } catch (error) {
    if (error instanceof CannotRestore) throw error;
    const reason = failureReason(error);
    throw new CannotRestore(`Cannot restore ${file}: ${reason}`, { cause: error });
  }
}

/** @throws {CannotRestore} if the file is no complete backup, the store must stay, or the disk has no room. */
async function requireRestorable(
  { file, folder, overwrites, reserve }: RestoreOptions,
  size: number,
): Promise<void> {
  const path = databasePath(folder);
  const isStore = await exists(path) && await Deno.realPath(path) === await Deno.realPath(file);
  if (isStore) throw new CannotRestore(`${file} is the store itself and no backup of it`);
  if (await fileSize(`${file}-wal`)) {
    throw new CannotRestore(
      `${file} is not complete without ${file}-wal, so it is no backup but a store: ` +
        "make a backup of it with kvdrive backup",
    );
  }
  if (!overwrites && await hasStore(path)) {
    throw new CannotRestore(
      `There is a store in ${folder}: --force restores the backup and keeps that store beside it`,
    );
  }
  const free = await freeBytesOf(folder)();
  if (free !== undefined && free - reserve < size) {
    throw new CannotRestore(
      `The disk of ${folder} has ${formatBytes(free)} free, and ${formatBytes(reserve)} ` +
        `must stay free: the backup needs ${formatBytes(size)}`,
    );
  }
}

/** Returns whether there is a store, or the rest of one. An empty file is none. */
async function hasStore(path: string): Promise<boolean> {
  for (const each of [path, `${path}-wal`, `${path}-journal`]) {
    if (await fileSize(each)) return true;
  }
  return false;
}

async function replaceStore(options: RestoreOptions): Promise<string | undefined> {
  const path = databasePath(options.folder);
  await removeSecondNames(path);
  using copy = await TemporaryFile.claim(`${path}.restoring`);
  if (copy === undefined) throw inUse(options.folder);
  try {
    options.onClaimed?.(copy.path);
    await copyInto(copy.path, options);
    await options.check(copy.path);
    const files = unpackFiles(copy.path);
    await syncFile(copy.path);
    const replaced = await keepReplaced(path, options.folder);
    await copy.rename(path);
    await restoreFiles(options.folder, files);
    return replaced;
  } finally {
    copy.remove();
  }
}

async function copyInto(target: string, { file, onCopied }: RestoreOptions): Promise<void> {
  using from = await Deno.open(file, { read: true });
  using to = await Deno.open(target, { write: true });
  const { size } = await from.stat();
  const buffer = new Uint8Array(COPY_BYTES);
  let done = 0;
  for (let count = await from.read(buffer); count !== null; count = await from.read(buffer)) {
    let rest = buffer.subarray(0, count);
    while (rest.byteLength > 0) rest = rest.subarray(await to.write(rest));
    done += count;
    onCopied?.(done, size);
  }
  await to.sync();
}

/**
 * Gives the current store a second name, so that renaming the copy replaces it in one step, and removes its log: SQLite
 * would apply a log under the old name to the new store.
 *
 * @returns The second name; `undefined` if there was no store.
 */
async function keepReplaced(path: string, folder: string): Promise<string | undefined> {
  if (!await hasStore(path)) {
    [path, ...companionsOf(path)].forEach(removeIfExists);
    return undefined;
  }
  const isWhole = await exists(path) && mergeLog(path, folder);
  await makePrivate([path, ...companionsOf(path)]);
  const replaced = await freeName(path + REPLACED + timestamp());
  // A store that SQLite cannot read is kept with its log.
  const endings = isWhole ? [""] : ["", "-wal", "-journal"];
  for (const ending of endings) {
    if (await exists(path + ending)) await addName(path + ending, replaced + ending);
  }
  await syncFolder(folder);
  companionsOf(path).forEach(removeIfExists);
  await syncFolder(folder);
  return replaced;
}

/**
 * Merges the log into the store's file, which is complete without it then; returns `false` if SQLite cannot read the
 * file.
 *
 * @throws {CannotRestore} if another process has the store open.
 */
function mergeLog(path: string, folder: string): boolean {
  try {
    withSqlite(path, (sqlite) => {
      sqlite.exec(`PRAGMA busy_timeout = ${IN_USE_TIMEOUT}`);
      // SQLite leaves the WAL mode only with the file to itself.
      const mode = sqlite.prepare("PRAGMA journal_mode = DELETE").get()?.["journal_mode"];
      if (mode !== "delete") throw inUse(folder);
    });
    return true;
  } catch (error) {
    if (error instanceof CannotRestore) throw error;
    if (isLocked(error)) throw inUse(folder);
    return false;
  }
}

/** Links a file under another name, or copies it where the file system has no links. */
async function addName(from: string, to: string): Promise<void> {
  try {
    await Deno.link(from, to);
  } catch (error) {
    if (error instanceof Deno.errors.AlreadyExists) throw error;
    await Deno.copyFile(from, to);
    await syncFile(to);
  }
}

/** Removes second names of the current store, which a restore leaves if it is interrupted in its last steps. */
async function removeSecondNames(path: string): Promise<void> {
  if (!await exists(path)) return;
  const { ino, dev } = await Deno.stat(path);
  const folder = dirname(path);
  for await (const { name } of Deno.readDir(folder)) {
    const other = `${folder}/${name}`;
    if (!other.startsWith(path + REPLACED) || ino === null) continue;
    const found = await Deno.stat(other);
    if (found.ino === ino && found.dev === dev) removeIfExists(other);
  }
}

async function freeName(wanted: string): Promise<string> {
  let name = wanted;
  for (let count = 2; await exists(name); count++) name = `${wanted}-${count}`;
  return name;
}

function timestamp(): string {
  return `${new Date().toISOString().slice(0, 19).replaceAll(":", "-")}Z`;
}

function inUse(folder: string): CannotRestore {
  return new CannotRestore(
    `A server or another command works on the store in ${folder}: stop it first`,
  );
}

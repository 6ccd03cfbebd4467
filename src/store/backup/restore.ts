import { failureReason } from "../../rules/system_error.ts";
import { formatBytes, MIB } from "../../rules/units.ts";
import {
  companionsOf,
  exists,
  fileSize,
  isSameFile,
  makePrivate,
  realPathOf,
  removeDatabase,
  syncFile,
  TemporaryFile,
} from "../disk/durable_file.ts";
import { FolderLock, lockNow } from "../disk/file_lock.ts";
import { restoreFiles, unpackFiles } from "../disk/kept_files.ts";
import { setStoreAside, settleReplaced } from "../disk/replaced_store.ts";
import { isLocked, withSqlite } from "../disk/sqlite.ts";
import { freeBytesOf } from "../disk/volume.ts";
import { databasePath, databaseSize } from "../disk/store_files.ts";
import { CannotRestore } from "../engine/errors.ts";
import { byteFileOf, joinByteFile } from "./join_files.ts";

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
  /** Receives the file in which the copy is made. */
  onTemporary?: (path: string) => void;
  /** Checks the copy; throws if it must not become the store. */
  check: (path: string) => Promise<void>;
}

/** Bytes that are copied at once. */
const COPY_BYTES = MIB;

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
    if (!await exists(file)) throw new CannotRestore(`There is no backup ${file}`);
    await Deno.mkdir(folder, { recursive: true, mode: 0o700 });
    using lock = await FolderLock.take(folder, "exclusive");
    if (lock === undefined) throw inUse(folder);
    const path = await realPathOf(databasePath(folder));
    await settleReplaced(path);
    using backup = await Deno.open(file, { read: true });
    // It may be in the store's folder, and have the name of a temporary file.
    await lockNow(backup, "shared");
    using copy = await TemporaryFile.create(path);
    options.onTemporary?.(copy.path);
    await requireRestorable(path, options);
    await copyInto(copy.path, backup, options);
    await addByteFile(copy.path, options);
    await options.check(copy.path);
    await restoreFiles(folder, unpackFiles(copy.path));
    await syncFile(copy.path);
    await prepareStore(path, folder);
    let replaced: string | undefined;
    try {
      await copy.rename(path);
    } finally {
      replaced = await settleReplaced(path);
    }
    return replaced;
  } catch (error) {
    if (error instanceof CannotRestore) throw error;
    const reason = failureReason(error);
    throw new CannotRestore(`Cannot restore ${file}: ${reason}`, { cause: error });
  }
}

/** @throws {CannotRestore} if the file is no complete backup, the store must stay, or the disk has no room. */
async function requireRestorable(
  path: string,
  { file, folder, overwrites, reserve }: RestoreOptions,
): Promise<void> {
  if (await exists(path) && await isSameFile(path, file)) {
    throw new CannotRestore(`${file} is the store itself and no backup of it`);
  }
  for (const log of [`${file}-wal`, `${file}-journal`]) {
    if (!await fileSize(log)) continue;
    throw new CannotRestore(
      `${file} is not complete without ${log}, so it is no backup but a store: ` +
        "make a backup of it with kvdrive backup",
    );
  }
  await requireReplaceable(path, folder, overwrites);
  await requireSpace(await fileSize(file) ?? 0, folder, reserve);
}

/** @throws {CannotRestore} if there is a store in a folder that must stay. */
export async function requireReplaceable(
  path: string,
  folder: string,
  overwrites: boolean,
): Promise<void> {
  if (!overwrites && await hasStore(path)) {
    throw new CannotRestore(
      `There is a store in ${folder}: --force restores the backup and keeps that store beside it`,
    );
  }
}

/** @throws {CannotRestore} if less than the reserve would stay free. */
export async function requireSpace(size: number, folder: string, reserve: number): Promise<void> {
  const free = await freeBytesOf(folder)();
  if (free === undefined || free - reserve >= size) return;
  throw new CannotRestore(
    `The disk of ${folder} has ${formatBytes(free)} free, and ${formatBytes(reserve)} ` +
      `must stay free: the backup needs ${formatBytes(size)}`,
  );
}

/**
 * Adds the bytes of files to the copy of a store that has them in a second file, as one that was replaced: no two stores
 * may use one file.
 */
async function addByteFile(copy: string, { file, folder, reserve }: RestoreOptions): Promise<void> {
  const bytes = byteFileOf(copy, file);
  if (bytes === undefined) return;
  await requireSpace(await databaseSize([bytes]) ?? 0, folder, reserve);
  joinByteFile(bytes, copy);
}

/** Returns whether there is a store, or the rest of one. An empty file is none. */
async function hasStore(path: string): Promise<boolean> {
  for (const each of [path, `${path}-wal`, `${path}-journal`]) {
    if (await fileSize(each)) return true;
  }
  return false;
}

async function copyInto(
  target: string,
  backup: Deno.FsFile,
  { onCopied }: RestoreOptions,
): Promise<void> {
  using to = await Deno.open(target, { write: true });
  const { size } = await backup.stat();
  const buffer = new Uint8Array(COPY_BYTES);
  let done = 0;
  for (let count = await backup.read(buffer); count !== null; count = await backup.read(buffer)) {
    let rest = buffer.subarray(0, count);
    while (rest.byteLength > 0) rest = rest.subarray(await to.write(rest));
    done += count;
    onCopied?.(done, size);
  }
  await to.sync();
}

/** Makes the current store complete and sets it aside, so that another can take its name. */
export async function prepareStore(path: string, folder: string): Promise<void> {
  // What is left of no store.
  if (!await hasStore(path)) return removeDatabase(path);
  // A store that SQLite cannot read is kept with its log.
  if (await exists(path)) {
    const bytes = byteFileOf(path);
    mergeLog(path, folder);
    if (bytes !== undefined && await exists(bytes)) mergeLog(bytes, folder);
  }
  await makePrivate([path, ...companionsOf(path)]);
  await setStoreAside(path);
}

/**
 * Merges the log into a file of the store, which is complete without it then, unless SQLite cannot read the file.
 *
 * @throws {CannotRestore} if another process has the store open.
 */
function mergeLog(path: string, folder: string): void {
  try {
    withSqlite(path, (sqlite) => {
      sqlite.exec(`PRAGMA busy_timeout = ${IN_USE_TIMEOUT}`);
      // SQLite leaves the WAL mode only with the file to itself.
      const mode = sqlite.prepare("PRAGMA journal_mode = DELETE").get()?.["journal_mode"];
      if (mode !== "delete") throw inUse(folder);
    });
  } catch (error) {
    if (error instanceof CannotRestore) throw error;
    if (isLocked(error)) throw inUse(folder);
  }
}

export function inUse(folder: string): CannotRestore {
  return new CannotRestore(
    `A server or another command works on the store in ${folder}: stop it first`,
  );
}

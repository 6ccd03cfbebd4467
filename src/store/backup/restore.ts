import { dirname } from "@std/path";
import { DatabaseSync } from "node:sqlite";
import { failureReason } from "../../rules/system_error.ts";
import { formatBytes } from "../../rules/units.ts";
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
import { freeBytesOf } from "../disk/volume.ts";
import { databasePath } from "../engine/database_file.ts";
import { CannotRestore } from "../engine/errors.ts";

export interface RestoreOptions {
  /** The backup. It is only read. */
  file: string;
  /** The store's folder, made if it is not there. */
  folder: string;
  /** Whether a store that is there is replaced. */
  overwrites: boolean;
  /** Bytes of the disk that have to stay free. */
  reserve: number;
  onCopied?: (done: number, total: number) => void;
  /** Told the name under which the copy is made, once it is this process's. */
  onClaimed?: (temporary: string) => void;
  /** Looks at the copy; throws what it does not like about it. */
  check: (path: string) => Promise<void>;
}

const PIECE = 2 ** 20;
const REPLACED = ".replaced-";

/**
 * Makes a backup the store of a folder, and keeps the store that was there beside it, complete. Whenever it is
 * interrupted, the earlier store or the new one is there. Gives the name that the earlier one has now.
 *
 * @throws {CannotRestore} where something is in the way; nothing has changed then.
 */
export async function restore(options: RestoreOptions): Promise<string | undefined> {
  const { folder, file } = options;
  try {
    const size = await fileSize(file);
    if (size === undefined) throw new CannotRestore(`There is no backup ${file}`);
    await Deno.mkdir(folder, { recursive: true, mode: 0o700 });
    using lock = await FolderLock.take(folder, "exclusive");
    if (lock === undefined) throw inUse(folder);
    await demandBackup(options, size);
    return await bringBack(options);
  } catch (error) {
    if (error instanceof CannotRestore) throw error;
    const reason = failureReason(error);
    throw new CannotRestore(`Cannot restore ${file}: ${reason}`, { cause: error });
  }
}

async function demandBackup(
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
  if (!overwrites && await isThere(path)) {
    throw new CannotRestore(
      `There is a store in ${folder}: --force restores the backup and keeps that store beside it`,
    );
  }
  const free = await freeBytesOf(folder)();
  if (free !== undefined && free - reserve < size) {
    throw new CannotRestore(
      `The disk of ${folder} has ${formatBytes(free)} free, and ${
        formatBytes(reserve)
      } must stay free: ` +
        `the backup needs ${formatBytes(size)}`,
    );
  }
}

/** Whether there is a store, or what is left of one. An empty file is none. */
async function isThere(path: string): Promise<boolean> {
  for (const each of [path, `${path}-wal`, `${path}-journal`]) {
    if (await fileSize(each)) return true;
  }
  return false;
}

async function bringBack(options: RestoreOptions): Promise<string | undefined> {
  const path = databasePath(options.folder);
  await forgetSecondNames(path);
  using copy = await TemporaryFile.claim(`${path}.restoring`);
  if (copy === undefined) throw inUse(options.folder);
  try {
    options.onClaimed?.(copy.path);
    await copyInto(copy.path, options);
    await options.check(copy.path);
    await syncFile(copy.path);
    const replaced = await setAside(path, options.folder);
    await copy.rename(path);
    return replaced;
  } finally {
    copy.remove();
  }
}

async function copyInto(target: string, { file, onCopied }: RestoreOptions): Promise<void> {
  using from = await Deno.open(file, { read: true });
  using to = await Deno.open(target, { write: true });
  const { size } = await from.stat();
  const buffer = new Uint8Array(PIECE);
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
 * Gives the store a second name, so that the new one can take the first in one step. No log may be left beside that
 * name: SQLite would apply it to the new store.
 */
async function setAside(path: string, folder: string): Promise<string | undefined> {
  if (!await isThere(path)) {
    [path, ...companionsOf(path)].forEach(removeIfExists);
    return undefined;
  }
  const isWhole = await exists(path) && takeInLog(path, folder);
  await makePrivate([path, ...companionsOf(path)]);
  const replaced = await freeName(path + REPLACED + timeText());
  // A store that cannot be read stays as it is, in its parts.
  const parts = isWhole ? [""] : ["", "-wal", "-journal"];
  for (const part of parts) {
    if (await exists(path + part)) await giveSecondName(path + part, replaced + part);
  }
  await syncFolder(folder);
  companionsOf(path).forEach(removeIfExists);
  await syncFolder(folder);
  return replaced;
}

/**
 * Brings what the log has into the store's file, which is complete without it then. Gives `false` where SQLite cannot
 * read the file. As long as anybody has the store open, SQLite refuses.
 */
function takeInLog(path: string, folder: string): boolean {
  try {
    const sqlite = new DatabaseSync(path);
    try {
      sqlite.exec("PRAGMA busy_timeout = 500");
      const mode = sqlite.prepare("PRAGMA journal_mode = DELETE").get()?.["journal_mode"];
      if (mode !== "delete") throw inUse(folder);
    } finally {
      sqlite.close();
    }
    return true;
  } catch (error) {
    if (error instanceof CannotRestore) throw error;
    if (error instanceof Error && /locked|busy/.test(error.message)) throw inUse(folder);
    return false;
  }
}

async function giveSecondName(from: string, to: string): Promise<void> {
  try {
    await Deno.link(from, to);
  } catch (error) {
    if (error instanceof Deno.errors.AlreadyExists) throw error;
    // A file system without second names.
    await Deno.copyFile(from, to);
    await syncFile(to);
  }
}

/** A restoring that was interrupted in its last steps has left the store a second name. */
async function forgetSecondNames(path: string): Promise<void> {
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

async function freeName(wished: string): Promise<string> {
  let name = wished;
  for (let count = 2; await exists(name); count++) name = `${wished}-${count}`;
  return name;
}

function timeText(): string {
  return `${new Date().toISOString().slice(0, 19).replaceAll(":", "-")}Z`;
}

function inUse(folder: string): CannotRestore {
  return new CannotRestore(
    `A server or another command works on the store in ${folder}: stop it first`,
  );
}

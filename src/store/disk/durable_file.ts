/**
 * Files that survive a power loss, are private to their owner, and appear under their name only once they are whole.
 *
 * @module
 */
import { dirname } from "@std/path/dirname";
import { join } from "@std/path/join";
import { lockNow, tryLock } from "./file_lock.ts";

/** Files with bytes of users: only the owner of the store reads and writes them. */
export const PRIVATE_MODE = 0o600;

/** Folders of such files. */
export const PRIVATE_FOLDER_MODE = 0o700;

/** The files that SQLite creates beside a database, by what their names add to its name. */
const COMPANIONS = ["-wal", "-shm", "-journal"] as const;

/** Flushes the bytes of a file to the disk. */
export async function syncFile(path: string): Promise<void> {
  using file = await Deno.open(path, { read: true, write: true });
  await file.sync();
}

/** Flushes the names in a folder to the disk. Windows has no such call and does not need it. */
export async function syncFolder(path: string): Promise<void> {
  if (Deno.build.os === "windows") return;
  using folder = await Deno.open(path);
  await folder.sync();
}

/** Writes a file that only its owner can read. It replaces an existing one in one step, which survives a power loss. */
export async function writePrivately(path: string, content: Uint8Array): Promise<void> {
  using file = await TemporaryFile.create(path);
  await Deno.writeFile(file.path, content);
  await syncFile(file.path);
  await file.rename(path);
}

/** Returns the path of a file without symbolic links; the same path if there is no such file. */
export async function realPathOf(path: string): Promise<string> {
  return await exists(path) ? await Deno.realPath(path) : path;
}

export async function exists(path: string): Promise<boolean> {
  return await fileSize(path) !== undefined;
}

/** Returns the size of a file in bytes, or `undefined` if it does not exist. */
export async function fileSize(path: string): Promise<number | undefined> {
  try {
    return (await Deno.stat(path)).size;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound || error instanceof Deno.errors.NotADirectory) {
      return undefined;
    }
    throw error;
  }
}

/** Returns whether the system refused a call for lack of space, inodes or quota. */
export function isOutOfSpace(error: unknown): boolean {
  return error instanceof Error &&
    /no space left|quota exceeded|not enough space/i.test(error.message);
}

/** Removes a database and the files beside it. Synchronous, so that an exiting process can do it. */
export function removeDatabase(path: string): void {
  [path, ...companionsOf(path)].forEach(removeIfExists);
}

export function removeIfExists(path: string): void {
  try {
    Deno.removeSync(path);
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
  }
}

/** Returns the names of the files that SQLite may have beside a database. */
export function companionsOf(path: string): string[] {
  return COMPANIONS.map((companion) => path + companion);
}

/**
 * Makes files private to their owner, if they exist. It works by name: opening and closing a file of SQLite would end
 * the locks that this process has on it.
 *
 * @returns The files that could not be changed because they belong to another user of the system.
 */
export async function makePrivate(paths: readonly string[]): Promise<string[]> {
  const failed: string[] = [];
  if (Deno.build.os === "windows") return failed;
  for (const path of paths) {
    try {
      const { mode } = await Deno.stat(path);
      if (mode !== null && (mode & 0o777) !== PRIVATE_MODE) await Deno.chmod(path, PRIVATE_MODE);
    } catch (error) {
      if (error instanceof Deno.errors.NotFound) continue;
      if (!(error instanceof Deno.errors.PermissionDenied)) throw error;
      failed.push(path);
    }
  }
  return failed;
}

/** Returns the first name that is free: the wanted one, or the same with a number. */
export async function freeName(wanted: string): Promise<string> {
  let name = wanted;
  for (let count = 2; await exists(name); count++) name = `${wanted}-${count}`;
  return name;
}

/** Returns whether two paths lead to the same file: symbolic and hard links are other names of it. */
export async function isSameFile(one: string, other: string): Promise<boolean> {
  const [mine, theirs] = [await Deno.stat(one), await Deno.stat(other)];
  // Not every system has numbers of files.
  if (mine.ino === null) return await Deno.realPath(one) === await Deno.realPath(other);
  return mine.ino === theirs.ino && mine.dev === theirs.dev;
}

/** The names of temporary files. They cannot be guessed, so none is a file of another program. */
const TEMPORARY_NAME = /^\.kvdrive-[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\.tmp$/;

/** Returns whether a file has the name of a temporary one, or of what SQLite has beside it. */
export function isTemporaryName(name: string): boolean {
  return TEMPORARY_NAME.test(name.replace(/-(wal|shm|journal)$/, ""));
}

/**
 * A new private file beside the one that it becomes. Unless it is renamed, it is removed when it is disposed of. It is
 * locked until then: what a crashed process left is removed when the next file is made in the folder.
 */
export class TemporaryFile implements Disposable {
  #isRenamed = false;

  private constructor(readonly path: string, private readonly file: Deno.FsFile) {}

  /** @param target The file that it becomes. */
  static async create(target: string): Promise<TemporaryFile> {
    const folder = dirname(target);
    for await (const { name } of Deno.readDir(folder)) {
      if (!TEMPORARY_NAME.test(name)) continue;
      await removeIfAbandoned(join(folder, name)).catch(ignoreForeign);
    }
    while (true) {
      const path = join(folder, `.kvdrive-${crypto.randomUUID()}.tmp`);
      const options = { read: true, write: true, createNew: true, mode: PRIVATE_MODE };
      const file = await Deno.open(path, options);
      // Another process may have found it before it was locked, and removes it.
      if (await lockNow(file, "exclusive") !== false && await isAt(path, file)) {
        return new TemporaryFile(path, file);
      }
      file.close();
    }
  }

  /**
   * Gives the file its final name in the same folder.
   *
   * @param replaces Whether another file of that name is replaced.
   * @throws {Deno.errors.AlreadyExists} if there is one that must not be replaced.
   */
  async rename(path: string, { replaces = true } = {}): Promise<void> {
    companionsOf(this.path).forEach(removeIfExists);
    if (replaces) await Deno.rename(this.path, path);
    else await renameIfFree(this.path, path);
    this.#isRenamed = true;
    await syncFolder(dirname(path));
  }

  [Symbol.dispose](): void {
    if (!this.#isRenamed) removeDatabase(this.path);
    this.file.close();
  }
}

/**
 * A lock by the name of an empty file, which exists while it is held. Files with content are locked too, but are those
 * of others: they stay as they are.
 */
export class FileLock implements Disposable {
  private constructor(private readonly path: string, private readonly file: Deno.FsFile) {}

  /** Takes the lock; returns `undefined` if another process holds it. */
  static async take(path: string): Promise<FileLock | undefined> {
    while (true) {
      const file = await Deno.open(path, {
        read: true,
        write: true,
        create: true,
        mode: PRIVATE_MODE,
      });
      const isLocked = await tryLock(file, "exclusive");
      if (isLocked && await isAt(path, file)) return new FileLock(path, file);
      file.close();
      if (!isLocked) return undefined;
      // The previous holder has removed the file that was opened here.
    }
  }

  [Symbol.dispose](): void {
    if (this.file.statSync().size === 0) removeIfExists(this.path);
    this.file.close();
  }
}

/** Returns whether an open file is still the one at a path. */
async function isAt(path: string, file: Deno.FsFile): Promise<boolean> {
  const mine = await file.stat();
  try {
    const there = await Deno.stat(path);
    return there.ino === mine.ino && there.dev === mine.dev;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return false;
    throw error;
  }
}

/** Renames a file in one step, unless the name is in use. */
async function renameIfFree(from: string, to: string): Promise<void> {
  try {
    await Deno.link(from, to);
  } catch (error) {
    if (error instanceof Deno.errors.AlreadyExists) throw error;
    // The file system has no hard links.
    if (await exists(to)) throw new Deno.errors.AlreadyExists(`${to} already exists`);
    return await Deno.rename(from, to);
  }
  await Deno.remove(from);
}

/**
 * Removes a file, and what SQLite has beside it, if no process has it locked.
 *
 * @returns `false` if it stays, or was removed by its own process.
 */
export async function removeIfAbandoned(path: string): Promise<boolean> {
  try {
    using file = await Deno.open(path, { read: true, write: true });
    if (await lockNow(file, "exclusive") !== true) return false;
    removeDatabase(path);
    return true;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return false;
    throw error;
  }
}

/** Leaves the files of another user of the system to that user. */
function ignoreForeign(error: unknown): void {
  if (!(error instanceof Deno.errors.PermissionDenied)) throw error;
}

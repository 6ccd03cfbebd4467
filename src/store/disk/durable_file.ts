/**
 * Files that survive a power loss, are private to their owner, and appear under their name only once they are whole.
 *
 * @module
 */
import { dirname } from "@std/path/dirname";
import { tryLock } from "./file_lock.ts";

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

/**
 * Writes a file that only its owner can read. It replaces an existing one in one step, which survives a power loss.
 *
 * @throws {Error} if it cannot be written, or if another process writes it: nothing has changed.
 */
export async function writePrivately(path: string, content: Uint8Array): Promise<void> {
  using file = await TemporaryFile.claim(`${path}.part`);
  if (file === undefined) throw new Error(`Another process writes ${path}`);
  try {
    await Deno.writeFile(file.path, content);
    await syncFile(file.path);
    await file.rename(path);
  } finally {
    file.remove();
  }
}

/** Renames a file within its folder, so that the new name survives a power loss. */
async function renameDurably(from: string, to: string): Promise<void> {
  await Deno.rename(from, to);
  await syncFolder(dirname(to));
}

/** Returns whether a file or folder exists. */
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

/** Removes a file, if it exists. */
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

/**
 * A file under a name that this process has claimed, until it is disposed of. What a crashed process left there is
 * emptied and reused.
 */
export class TemporaryFile implements Disposable {
  readonly path: string;
  readonly #file: Deno.FsFile;
  #isRenamed = false;

  private constructor(path: string, file: Deno.FsFile) {
    this.path = path;
    this.#file = file;
  }

  /** Claims a name; returns `undefined` if another process has claimed it. */
  static async claim(path: string): Promise<TemporaryFile | undefined> {
    while (true) {
      const options = { read: true, write: true, create: true, mode: PRIVATE_MODE };
      const file = await Deno.open(path, options);
      if (!await tryLock(file, "exclusive")) {
        file.close();
        return undefined;
      }
      if (await isStillAt(path, file)) {
        await makePrivate([path]);
        // The database goes first: a log without its database has no effect, a database with a foreign log is corrupt.
        file.truncateSync(0);
        companionsOf(path).forEach(removeIfExists);
        return new TemporaryFile(path, file);
      }
      // The previous holder has renamed or removed the file that was opened here.
      file.close();
    }
  }

  /** Gives the file its final name. The temporary name is free again. */
  async rename(path: string): Promise<void> {
    companionsOf(this.path).forEach(removeIfExists);
    this.#isRenamed = true;
    await renameDurably(this.path, path);
  }

  /** Removes the file and its companions, unless it was renamed. */
  remove(): void {
    if (!this.#isRenamed) removeDatabase(this.path);
  }

  /** Releases the claim. The file stays unless `remove` was called. */
  [Symbol.dispose](): void {
    this.#file.close();
  }
}

async function isStillAt(path: string, file: Deno.FsFile): Promise<boolean> {
  const mine = await file.stat();
  try {
    const there = await Deno.stat(path);
    return there.ino === mine.ino && there.dev === mine.dev;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return false;
    throw error;
  }
}

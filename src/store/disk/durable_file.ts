import { dirname } from "@std/path";
import { tryLock } from "./file_lock.ts";

/** Files with bytes of users: only the owner of the store reads and writes them. */
export const PRIVATE_MODE = 0o600;

/** Makes the bytes of a file survive a power loss. */
export async function syncFile(path: string): Promise<void> {
  using file = await Deno.open(path, { read: true, write: true });
  await file.sync();
}

/** The same for the names in a folder. Windows has no such call, and no need of it. */
export async function syncFolder(path: string): Promise<void> {
  if (Deno.build.os === "windows") return;
  using folder = await Deno.open(path);
  await folder.sync();
}

/** Gives a file another name in the same folder, for good. */
async function renameDurably(from: string, to: string): Promise<void> {
  await Deno.rename(from, to);
  await syncFolder(dirname(to));
}

/** Whether there is something under a name. */
export async function exists(path: string): Promise<boolean> {
  return await fileSize(path) !== undefined;
}

/** How many bytes a file has; `undefined` where there is none. */
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

/** Whether the system refused for lack of space, inodes or quota. */
export function isOutOfSpace(error: unknown): boolean {
  return error instanceof Error &&
    /no space left|quota exceeded|not enough space/i.test(error.message);
}

/** What SQLite makes beside a database. */
const COMPANIONS = ["-wal", "-shm", "-journal"] as const;

/** Removes a database that nobody needs, and what lies beside it. At once, so that it can be done at the end. */
export function removeDatabase(path: string): void {
  [path, ...companionsOf(path)].forEach(removeIfExists);
}

/** Removes a file, if it is there. */
export function removeIfExists(path: string): void {
  try {
    Deno.removeSync(path);
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
  }
}

/** The names of what SQLite may have beside a database. */
export function companionsOf(path: string): string[] {
  return COMPANIONS.map((companion) => path + companion);
}

/**
 * Makes files private to their owner, where they exist. Returns those that could not be changed, as they belong to another
 * user of the system. By name: opening and closing a file of SQLite would end the locks that this process has on it.
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
 * A file under a name that only this process has, until it is disposed of. What an earlier process left there, which
 * ended before it could remove it, is emptied and taken over.
 */
export class TemporaryFile implements Disposable {
  readonly path: string;
  readonly #file: Deno.FsFile;
  #isRenamed = false;

  private constructor(path: string, file: Deno.FsFile) {
    this.path = path;
    this.#file = file;
  }

  /** Takes the name; `undefined` where another process is at work under it. */
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
        // First what lies beside it: a log without its database is nothing.
        file.truncateSync(0);
        companionsOf(path).forEach(removeIfExists);
        return new TemporaryFile(path, file);
      }
      // The other one has finished meanwhile and renamed or removed it.
      file.close();
    }
  }

  /** Gives it its name, for good. From then on others may have the present one. */
  async rename(path: string): Promise<void> {
    companionsOf(this.path).forEach(removeIfExists);
    this.#isRenamed = true;
    await renameDurably(this.path, path);
  }

  /** Removes what is there under the name, if it was not renamed. */
  remove(): void {
    if (!this.#isRenamed) removeDatabase(this.path);
  }

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

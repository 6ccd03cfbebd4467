import { delay } from "@std/async/delay";
import { dirname } from "@std/path";

/** How long another holder of a lock is waited for, and how often it is tried, in milliseconds. */
const LOCK_PATIENCE = 1000;
const LOCK_POLL = 20;

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
export async function renameDurably(from: string, to: string): Promise<void> {
  await Deno.rename(from, to);
  await syncFolder(dirname(to));
}

/** Whether there is something under a name. */
export async function exists(path: string): Promise<boolean> {
  return await sizeOf(path) !== undefined;
}

/** How many bytes a file has; `undefined` where there is none. */
export async function sizeOf(path: string): Promise<number | undefined> {
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
  [path, ...companionsOf(path)].forEach(removeIfThere);
}

/** Removes a file, if it is there. */
export function removeIfThere(path: string): void {
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
 * Takes a lock on an open file or folder, which ends when that is closed; waits `LOCK_PATIENCE` for another holder. Returns
 * `false` if the lock is held for longer: the caller then closes the file.
 */
export async function tryLock(
  file: Deno.FsFile,
  kind: "shared" | "exclusive",
): Promise<boolean> {
  const isExclusive = kind === "exclusive";
  const { tryLock }: Lockable = file;
  if (tryLock === undefined) return await lockWithin(file, isExclusive);
  const deadline = performance.now() + LOCK_PATIENCE;
  try {
    while (!await tryLock.call(file, isExclusive)) {
      if (performance.now() >= deadline) return false;
      await delay(LOCK_POLL);
    }
    return true;
  } catch {
    // A file system without locks has no other holders either.
    return true;
  }
}

/** `tryLock` came with Deno 2.7. */
interface Lockable {
  tryLock?(exclusive: boolean): Promise<boolean>;
}

/** The same on older versions, where a pending lock cannot be cancelled: a lock that comes too late is given back at once. */
async function lockWithin(file: Deno.FsFile, isExclusive: boolean): Promise<boolean> {
  let isLate = false;
  const locked = file.lock(isExclusive).catch(() => {}).then(() => {
    if (isLate) file.unlockSync();
    return true;
  }).catch(() => true);
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<false>((resolve) => {
    timer = setTimeout(() => {
      isLate = true;
      resolve(false);
    }, LOCK_PATIENCE);
  });
  try {
    return await Promise.race([locked, late]);
  } finally {
    clearTimeout(timer);
  }
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

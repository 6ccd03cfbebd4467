/**
 * Locks between processes. The system ends a lock with its process.
 *
 * @module
 */
import { delay } from "@std/async/delay";
import { SECOND } from "../../rules/units.ts";

/** How long `tryLock` waits for another holder, and how often it tries, in milliseconds. */
const LOCK_PATIENCE = SECOND;
const LOCK_POLL = 20;

/** "shared" excludes an exclusive lock, "exclusive" any other. */
export type LockKind = "shared" | "exclusive";

/**
 * A lock on the folder of a store: shared while a process works on the store, exclusive while one replaces it. The lock
 * is on the folder because a restore replaces the store's file. Windows cannot lock folders: there, only SQLite's own
 * locks protect the store.
 */
export class FolderLock implements Disposable {
  readonly #folder: Deno.FsFile | undefined;

  private constructor(folder: Deno.FsFile | undefined) {
    this.#folder = folder;
  }

  /** Locks a folder; returns `undefined` if another process has a lock that excludes this one. */
  static async take(folder: string, kind: LockKind): Promise<FolderLock | undefined> {
    if (Deno.build.os === "windows") return new FolderLock(undefined);
    const file = await Deno.open(folder);
    if (await tryLock(file, kind)) return new FolderLock(file);
    file.close();
    return undefined;
  }

  [Symbol.dispose](): void {
    this.#folder?.close();
  }
}

/**
 * Locks an open file or folder until it is closed; waits `LOCK_PATIENCE` for another holder.
 *
 * @returns `false` if another process still holds a lock that excludes this one: the caller then closes the file.
 */
export async function tryLock(file: Deno.FsFile, kind: LockKind): Promise<boolean> {
  const isExclusive = kind === "exclusive";
  const { tryLock }: Lockable = file;
  if (tryLock === undefined) return await lockWithTimeout(file, isExclusive);
  const deadline = performance.now() + LOCK_PATIENCE;
  try {
    while (!await tryLock.call(file, isExclusive)) {
      if (performance.now() >= deadline) return false;
      await delay(LOCK_POLL);
    }
    return true;
  } catch {
    // A file system without locks: there are no other holders to wait for.
    return true;
  }
}

/** `Deno.FsFile.tryLock` came with Deno 2.7. */
interface Lockable {
  tryLock?(exclusive: boolean): Promise<boolean>;
}

/**
 * `tryLock` for older versions of Deno, where a pending lock cannot be cancelled: one that comes too late is released
 * at once.
 */
async function lockWithTimeout(file: Deno.FsFile, isExclusive: boolean): Promise<boolean> {
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

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
  private constructor(private readonly folder: Deno.FsFile | undefined) {}

  /** Locks a folder; returns `undefined` if another process has a lock that excludes this one. */
  static async take(folder: string, kind: LockKind): Promise<FolderLock | undefined> {
    if (Deno.build.os === "windows") return new FolderLock(undefined);
    const file = await Deno.open(folder);
    if (await tryLock(file, kind)) return new FolderLock(file);
    file.close();
    return undefined;
  }

  [Symbol.dispose](): void {
    this.folder?.close();
  }
}

/**
 * Locks an open file or folder until it is closed; waits `LOCK_PATIENCE` for another holder.
 *
 * @returns `false` if another process still holds a lock that excludes this one: the caller then closes the file.
 */
export async function tryLock(file: Deno.FsFile, kind: LockKind): Promise<boolean> {
  if (!canTryLock(file)) return await lockWithTimeout(file, kind === "exclusive");
  const deadline = performance.now() + LOCK_PATIENCE;
  // On a file system without locks there are no other holders to wait for.
  while (await lockNow(file, kind) === false) {
    if (performance.now() >= deadline) return false;
    await delay(LOCK_POLL);
  }
  return true;
}

/**
 * Locks an open file until it is closed, without waiting. Returns whether no other process holds a lock that excludes
 * this one; `undefined` if the system or the runtime cannot tell.
 */
export async function lockNow(file: Deno.FsFile, kind: LockKind): Promise<boolean | undefined> {
  if (!canTryLock(file)) return undefined;
  try {
    return await file.tryLock(kind === "exclusive");
  } catch {
    return undefined;
  }
}

/** `Deno.FsFile.tryLock` came with Deno 2.7. */
function canTryLock(
  file: object,
): file is { tryLock: (exclusive: boolean) => Promise<boolean> } {
  return "tryLock" in file;
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

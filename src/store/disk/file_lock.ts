import { delay } from "@std/async/delay";

/** How long another holder of a lock is waited for, and how often it is tried, in milliseconds. */
const LOCK_PATIENCE = 1000;

const LOCK_POLL = 20;

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
 * Says that a process works on the store in a folder, or that it wants it for itself. The system ends the claim with the
 * process. It is on the folder, as the store's file can be replaced; Windows cannot lock one, and SQLite's own locks are
 * all that there is then.
 */
export class FolderLock implements Disposable {
  readonly #folder: Deno.FsFile | undefined;

  private constructor(folder: Deno.FsFile | undefined) {
    this.#folder = folder;
  }

  /** Claims it; `undefined` where another process has a claim that excludes this one. */
  static async take(
    folder: string,
    kind: "shared" | "exclusive",
  ): Promise<FolderLock | undefined> {
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

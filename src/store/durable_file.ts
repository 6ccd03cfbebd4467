import { dirname } from "@std/path";

/** How long somebody is waited for who may hold a lock for a moment, in milliseconds. */
const LOCK_PATIENCE = 1000;

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

/** Takes a lock on an open file or folder that ends with it; gives `false` where somebody else has one that excludes it. */
export async function tryLock(
  file: Deno.FsFile,
  kind: "shared" | "exclusive",
): Promise<boolean> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const patience = new Promise<false>((resolve) => {
    timer = setTimeout(() => resolve(false), LOCK_PATIENCE);
  });
  const locked = file.lock(kind === "exclusive").then(() => true, () => {
    // A file system without such locks: then there are none to be held by others.
    return true;
  });
  try {
    return await Promise.race([locked, patience]);
  } finally {
    clearTimeout(timer);
  }
}

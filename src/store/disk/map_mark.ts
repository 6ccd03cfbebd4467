/**
 * A mark that this process reads the store's file through a memory map.
 *
 * With a map, a sector that the disk cannot read ends the process (SIGBUS) instead of failing one read. If the marks of a
 * process are still there after its end, this may have happened: the next process reads without a map, and a
 * read of that sector fails with an error. Power failures and SIGKILL leave marks too.
 *
 * @module
 */
import { basename } from "@std/path/basename";
import { dirname } from "@std/path/dirname";
import { join } from "@std/path/join";
import { PRIVATE_MODE, removeIfAbandoned } from "./durable_file.ts";
import { lockNow } from "./file_lock.ts";

/** Follows the name of the store's file in the name of a mark. */
const SUFFIX = "-mapped-";
const UNLOCKED_SUFFIX = "-mapping-";

/** A mark of this process: a locked file. The system releases the lock when the process ends, also after a crash. */
export class MapMark implements Disposable {
  private constructor(private readonly path: string, private readonly file: Deno.FsFile) {}

  /**
   * Marks a store as mapped by this process.
   *
   * @param path The store's file.
   * @returns "abandoned" if a process has left a mark, which is removed; "unsupported" if no mark can be made: the system
   * cannot lock files, or the folder has no room.
   */
  static async take(path: string): Promise<MapMark | "abandoned" | "unsupported"> {
    if (Deno.build.os === "windows") return "unsupported";
    try {
      return await removeAbandoned(path) ? "abandoned" : await MapMark.#make(path);
    } catch {
      // A store must open on a full disk, too. It needs no map.
      return "unsupported";
    }
  }

  static async #make(path: string): Promise<MapMark | "unsupported"> {
    const id = crypto.randomUUID();
    // It gets its name once it is locked: other processes would remove an unlocked mark as abandoned.
    const temporary = `${path}${UNLOCKED_SUFFIX}${id}`;
    const file = await Deno.open(temporary, { write: true, createNew: true, mode: PRIVATE_MODE });
    if (await lockNow(file, "exclusive") === true) {
      const mark = `${path}${SUFFIX}${id}`;
      await Deno.rename(temporary, mark);
      return new MapMark(mark, file);
    }
    new MapMark(temporary, file)[Symbol.dispose]();
    return "unsupported";
  }

  [Symbol.dispose](): void {
    try {
      Deno.removeSync(this.path);
    } catch {
      // A mark that stays makes the next process read without a map, and nothing else.
    }
    this.file.close();
  }
}

/** Removes the marks of processes that have ended. Returns whether there were any. */
async function removeAbandoned(path: string): Promise<boolean> {
  let found = false;
  for await (const { name } of Deno.readDir(dirname(path))) {
    if (!name.startsWith(basename(path) + SUFFIX)) continue;
    if (await removeIfAbandoned(join(dirname(path), name))) found = true;
  }
  return found;
}

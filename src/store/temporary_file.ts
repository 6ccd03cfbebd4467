import {
  companionsOf,
  makePrivate,
  PRIVATE_MODE,
  removeDatabase,
  removeIfThere,
  renameDurably,
  tryLock,
} from "./durable_file.ts";

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
        companionsOf(path).forEach(removeIfThere);
        return new TemporaryFile(path, file);
      }
      // The other one has finished meanwhile and renamed or removed it.
      file.close();
    }
  }

  /** Gives it its name, for good. From then on others may have the present one. */
  async rename(path: string): Promise<void> {
    companionsOf(this.path).forEach(removeIfThere);
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

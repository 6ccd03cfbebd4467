import { tryLock } from "./durable_file.ts";

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

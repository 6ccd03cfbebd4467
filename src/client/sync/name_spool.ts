import { linesOf, writeAll } from "../local_files.ts";

/** Characters of names that are kept in memory. */
const MEMORY = 4 * 2 ** 20;

/**
 * Names that are kept for later, in order. Many of them go to a temporary file that no other program can open, as millions of
 * names of a kilobyte do not fit into memory.
 */
export class NameSpool implements Disposable {
  #names: string[] = [];
  #characters = 0;
  #file: Deno.FsFile | undefined;
  #path: string | undefined;
  count = 0;

  async add(name: string): Promise<void> {
    this.count++;
    this.#names.push(name);
    this.#characters += name.length;
    if (this.#characters > MEMORY) await this.#flush();
  }

  /** Returns the names in the order in which they were added, once. No name may be added any more. */
  async *names(): AsyncGenerator<string> {
    if (this.#file !== undefined) {
      await this.#flush();
      await this.#file.seek(0, Deno.SeekMode.Start);
      const { readable } = this.#file;
      // The stream closes the file.
      this.#file = undefined;
      for await (const line of linesOf(readable)) yield JSON.parse(line) as string;
    }
    yield* this.#names;
  }

  [Symbol.dispose](): void {
    this.#file?.close();
    this.#file = undefined;
    // Where an open file cannot be removed, it is removed now.
    if (this.#path !== undefined) Deno.removeSync(this.#path);
  }

  async #flush(): Promise<void> {
    this.#file ??= await this.#open();
    const lines = this.#names.map((name) => `${JSON.stringify(name)}\n`).join("");
    await writeAll(this.#file, new TextEncoder().encode(lines));
    this.#names = [];
    this.#characters = 0;
  }

  async #open(): Promise<Deno.FsFile> {
    this.#path = await Deno.makeTempFile({ prefix: "kvdrive-" });
    const file = await Deno.open(this.#path, { read: true, write: true });
    try {
      await Deno.remove(this.#path);
      this.#path = undefined;
    } catch {
      // Windows removes no open file.
    }
    return file;
  }
}

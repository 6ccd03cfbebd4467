import { statfs as statfsWithCallback } from "node:fs";
import { promisify } from "node:util";
import { MIB } from "../../support/bytes.ts";

const statfs = promisify(statfsWithCallback);

export const DISK_SIZE = 64 * MIB;

/** A disk in memory, unmounted and removed at the end of the block. */
export class SmallDisk implements AsyncDisposable {
  private constructor(readonly path: string) {}

  /** Gives nothing where the system does not let us mount one. */
  static async mount(size = DISK_SIZE): Promise<SmallDisk | undefined> {
    const path = await Deno.makeTempDir({ prefix: "kvdrive-test-" });
    const options = ["-t", "tmpfs", "-o", `size=${size}`, "tmpfs", path];
    if (await run("mount", options)) return new SmallDisk(path);
    await Deno.remove(path);
    return undefined;
  }

  /** Bytes that are free. */
  async free(): Promise<number> {
    const { bavail, bsize } = await statfs(this.path);
    return bavail * bsize;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (!await run("umount", [this.path]) && !await run("umount", ["-l", this.path])) {
      throw new Error(`Cannot unmount ${this.path}`);
    }
    await Deno.remove(this.path);
  }
}

async function run(command: string, args: string[]): Promise<boolean> {
  try {
    const { success } = await new Deno.Command(command, { args }).output();
    return success;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return false;
    throw error;
  }
}

/** Writes a file that takes all that is free on its disk. */
export async function fillDisk(path: string): Promise<void> {
  using file = await Deno.open(path, { write: true, createNew: true });
  for (let size = MIB; size >= 1;) {
    if (!await write(file, size)) size >>= 1;
  }
}

/** Gives whether there was room. */
async function write(file: Deno.FsFile, size: number): Promise<boolean> {
  try {
    return await file.write(new Uint8Array(size)) > 0;
  } catch (error) {
    if (error instanceof Error && /No space left/.test(error.message)) return false;
    throw error;
  }
}

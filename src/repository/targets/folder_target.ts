import { dirname } from "@std/path/dirname";
import { join } from "@std/path/join";
import { failureReason } from "../../rules/system_error.ts";
import {
  isOutOfSpace,
  isTemporaryName,
  PRIVATE_FOLDER_MODE,
  syncFolder,
  TemporaryFile,
} from "../../store/disk/durable_file.ts";
import { RepositoryError } from "../errors.ts";
import type { Bytes } from "../bytes.ts";
import { type ListedObject, MAX_OBJECT, type Target } from "./target.ts";

/** The folder of objects that are being written. */
const TEMPORARY = "tmp";

/**
 * A repository in a folder: an object is a private file. It is written under another name, synced, and renamed, and then
 * the folder is synced.
 */
export class FolderTarget implements Target {
  constructor(readonly place: string) {}

  async prepare(): Promise<void> {
    await this.#guard("use", async () => {
      await makeFolder(this.place, true);
      await makeFolder(join(this.place, TEMPORARY));
    });
  }

  async topNames(): Promise<string[]> {
    return await this.#guard("read", async () => {
      const names: string[] = [];
      for (const { name, isDirectory } of await entriesOf(this.place)) {
        const isOurs = name === TEMPORARY && isDirectory && await this.#hasOnlyTemporary();
        if (!isOurs) names.push(name);
      }
      return names;
    });
  }

  async get(name: string, limit = MAX_OBJECT): Promise<Bytes | undefined> {
    return await this.#guard("read", async () => {
      try {
        using file = await Deno.open(join(this.place, name));
        return await readEnd(file, limit);
      } catch (error) {
        if (isMissing(error)) return undefined;
        throw error;
      }
    });
  }

  async put(name: string, bytes: Bytes, isNew = false): Promise<boolean> {
    return await this.#guard("write to", async () => {
      const path = join(this.place, name);
      // If the repository is gone, as that of a disk which was unmounted, nothing is put in its place.
      await makeFolder(join(this.place, TEMPORARY));
      await makeFolder(dirname(path));
      using temporary = await TemporaryFile.create(join(this.place, TEMPORARY, "object"));
      using file = await Deno.open(temporary.path, { write: true });
      for (let at = 0; at < bytes.byteLength;) at += await file.write(bytes.subarray(at));
      await file.sync();
      try {
        await temporary.rename(path, { replaces: !isNew });
        return true;
      } catch (error) {
        if (isNew && error instanceof Deno.errors.AlreadyExists) return false;
        throw error;
      }
    });
  }

  async *list(folder: string): AsyncGenerator<ListedObject> {
    const entries = await this.#guard("read", () => entriesOf(join(this.place, folder)));
    for (const { name, isFile } of entries) {
      if (!isFile) continue;
      const path = join(this.place, folder, name);
      const size = await this.#guard("read", () => sizeOf(path));
      if (size !== undefined) yield { name: `${folder}/${name}`, size };
    }
  }

  async remove(name: string): Promise<void> {
    await this.#guard("remove objects from", async () => {
      await Deno.remove(join(this.place, name)).catch((error: unknown) => {
        if (!isMissing(error)) throw error;
      });
    });
  }

  async #hasOnlyTemporary(): Promise<boolean> {
    return (await entriesOf(join(this.place, TEMPORARY))).every(({ name }) =>
      isTemporaryName(name)
    );
  }

  async #guard<T>(action: string, work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      if (error instanceof RepositoryError) throw error;
      const advice = isOutOfSpace(error) ? ". Free some space on its disk" : "";
      const message = `Cannot ${action} the folder ${this.place}: ${failureReason(error)}${advice}`;
      throw new RepositoryError(message, { cause: error });
    }
  }
}

/** Makes a missing folder so that it survives a power loss. @param recursive Whether those above are made as well. */
async function makeFolder(path: string, recursive = false): Promise<void> {
  try {
    if ((await Deno.stat(path)).isDirectory) return;
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
  }
  try {
    await Deno.mkdir(path, { recursive, mode: PRIVATE_FOLDER_MODE });
  } catch (error) {
    // Another process was faster.
    if (!(error instanceof Deno.errors.AlreadyExists)) throw error;
  }
  await syncFolder(dirname(path));
}

/** Returns the entries of a folder; none if it does not exist. */
async function entriesOf(path: string): Promise<Deno.DirEntry[]> {
  try {
    return await Array.fromAsync(Deno.readDir(path));
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return [];
    throw error;
  }
}

/** Returns the size of a file; `undefined` if it was removed since the folder was listed. */
async function sizeOf(path: string): Promise<number | undefined> {
  try {
    return (await Deno.stat(path)).size;
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
}

/** Returns the last bytes of a file. `Deno.readFile` would take their memory in other threads, which keep it. */
async function readEnd(file: Deno.FsFile, limit: number): Promise<Bytes> {
  const { size } = await file.stat();
  const bytes = new Uint8Array(Math.min(size, limit));
  await file.seek(size - bytes.byteLength, Deno.SeekMode.Start);
  for (let length = 0; length < bytes.byteLength;) {
    const count = await file.read(bytes.subarray(length));
    if (count === null) return bytes.subarray(0, length);
    length += count;
  }
  return bytes;
}

function isMissing(error: unknown): boolean {
  return error instanceof Deno.errors.NotFound || error instanceof Deno.errors.NotADirectory;
}

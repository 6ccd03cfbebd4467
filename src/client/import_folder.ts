import { join, resolve } from "@std/path";
import { cannot, ClientError } from "./errors.ts";
import { DRIVES_FOLDER, INDEX_NAME, indexBy, type IndexEntry } from "./export_index.ts";
import type { ImportFile, ImportProblem, ImportSource } from "./import_source.ts";
import { fileSource, readFile } from "./source.ts";

/** An export in a folder. */
export class FolderSource implements ImportSource {
  readonly bytes: number;
  readonly index: ReadonlyMap<string, IndexEntry>;
  readonly #folder: string;

  private constructor(folder: string, bytes: number, index: ReadonlyMap<string, IndexEntry>) {
    this.#folder = folder;
    this.bytes = bytes;
    this.index = index;
  }

  /** @throws {ClientError} where the folder has no drives. */
  static async open(folder: string): Promise<FolderSource> {
    const drives = join(folder, DRIVES_FOLDER);
    if (!await isFolder(drives)) {
      throw new ClientError(`There is no folder ${drives}: an export has its files in there`);
    }
    let bytes = 0;
    for await (const { path } of walk(folder, DRIVES_FOLDER)) {
      bytes += (await Deno.lstat(join(folder, path)).catch(() => undefined))?.size ?? 0;
    }
    return new FolderSource(folder, bytes, await readIndexOf(folder));
  }

  async *files(): AsyncIterable<ImportFile | ImportProblem> {
    for await (const found of walk(this.#folder, DRIVES_FOLDER)) {
      yield "problem" in found ? found : await this.#fileAt(found.path);
    }
  }

  async #fileAt(path: string): Promise<ImportFile | ImportProblem> {
    try {
      const source = await fileSource(resolve(this.#folder, path));
      return { path, size: source.size, modified: source.modified, source };
    } catch (error) {
      const problem = error instanceof Error ? error.message : String(error);
      return { path, problem, hasFailed: true };
    }
  }
}

/** All files below a folder, by names, with slashes. Links are not followed: they may lead anywhere. */
export async function* walk(
  root: string,
  folder: string,
): AsyncIterable<{ path: string } | ImportProblem> {
  const entries: Deno.DirEntry[] = [];
  try {
    for await (const entry of Deno.readDir(join(root, folder))) entries.push(entry);
  } catch (error) {
    yield { path: folder, problem: cannot("read", folder, error).message, hasFailed: true };
    return;
  }
  entries.sort((a, b) => a.name < b.name ? -1 : 1);
  for (const { name, isDirectory, isFile, isSymlink } of entries) {
    const path = folder === "" ? name : `${folder}/${name}`;
    if (isDirectory) yield* walk(root, path);
    else if (isFile) yield { path };
    else yield { path, problem: isSymlink ? "it is a symbolic link" : "it is no file" };
  }
}

async function isFolder(path: string): Promise<boolean> {
  try {
    return (await Deno.stat(path)).isDirectory;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound || error instanceof Deno.errors.NotADirectory) {
      return false;
    }
    throw cannot("read", path, error);
  }
}

async function readIndexOf(folder: string): Promise<Map<string, IndexEntry>> {
  const path = join(folder, INDEX_NAME);
  try {
    await Deno.lstat(path);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return new Map();
    throw cannot("read", path, error);
  }
  return await indexBy(readFile(path), (entry) => entry.path);
}

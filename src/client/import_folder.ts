import { join } from "@std/path";
import { cannot, ClientError } from "./errors.ts";
import { DRIVES_FOLDER, INDEX_NAME, indexBy, type IndexEntry } from "./export_index.ts";
import {
  type ImportFile,
  type ImportProblem,
  type ImportSource,
  noDrives,
} from "./import_source.ts";
import { kindOf } from "./plain_tree.ts";
import { fileSource } from "./source.ts";

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

  /**
   * @param folder The export, or a folder around it. It may be a link, as its user named it; links inside are not followed.
   * @throws {ClientError} where the folder has no drives.
   */
  static async open(folder: string): Promise<FolderSource> {
    const root = await findExport(folder);
    let bytes = 0;
    for await (const { path } of walk(root, DRIVES_FOLDER)) {
      bytes += (await Deno.lstat(join(root, path)).catch(() => undefined))?.size ?? 0;
    }
    return new FolderSource(root, bytes, await readIndexOf(root));
  }

  async *files(): AsyncIterable<ImportFile | ImportProblem> {
    for await (const found of walk(this.#folder, DRIVES_FOLDER)) {
      yield "problem" in found ? found : await this.#fileAt(found.path);
    }
  }

  async #fileAt(path: string): Promise<ImportFile | ImportProblem> {
    try {
      const source = await fileSource(join(this.#folder, path), { follows: false });
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

/**
 * The folder that has the drives, as a full path without links: the one named, or the only one inside it that has some,
 * as an archive is often unpacked.
 */
async function findExport(folder: string): Promise<string> {
  try {
    const root = await Deno.realPath(folder);
    const kind = await kindOf(join(root, DRIVES_FOLDER));
    if (kind === "folder") return root;
    if (kind === "link") throw isLink(join(folder, DRIVES_FOLDER));
    const found: string[] = [];
    for await (const { name, isDirectory } of Deno.readDir(root)) {
      const hasDrives = isDirectory && await kindOf(join(root, name, DRIVES_FOLDER)) === "folder";
      if (hasDrives) found.push(name);
    }
    const [only, ...others] = found.toSorted();
    if (only !== undefined && others.length === 0) return join(root, only);
    throw noDrives(folder, found);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) {
      throw new ClientError(`There is no folder ${folder}: name the folder of an export`);
    }
    throw cannot("read", folder, error);
  }
}

function isLink(path: string): ClientError {
  return new ClientError(
    `${path} is a symbolic link, which is not followed as it may lead anywhere: put what it leads to in its place`,
  );
}

async function readIndexOf(folder: string): Promise<Map<string, IndexEntry>> {
  const path = join(folder, INDEX_NAME);
  try {
    const kind = await kindOf(path);
    if (kind === undefined) return new Map();
    if (kind === "link") throw isLink(path);
    const { read } = await fileSource(path, { follows: false });
    return await indexBy(read(), (entry) => entry.path);
  } catch (error) {
    throw cannot("read", path, error);
  }
}

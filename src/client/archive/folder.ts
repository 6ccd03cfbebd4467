import { join } from "@std/path";
import { download } from "../download.ts";
import type { Drives, FileInfo } from "../drives.ts";
import { ClientError, fileError } from "../errors.ts";
import {
  fileSource,
  isSameTime,
  kindOf,
  openPlainFile,
  PlainTree,
  readFile,
} from "../local_files.ts";
import { type FileSystem, LocalPaths } from "../local_paths.ts";
import { TRANSFERS } from "../transfers.ts";
import type { ExportTarget } from "./export.ts";
import { type ImportFile, type ImportProblem, type ImportSource, noDrives } from "./import.ts";
import {
  DRIVES_FOLDER,
  fileKey,
  INDEX_NAME,
  indexBy,
  type IndexEntry,
  indexEntry,
  indexLine,
} from "./index.ts";

/** Where files lie that are not whole. */
const PARTS_FOLDER = ".kvdrive-partial";

/**
 * Exports to a folder: `drives/<drive>/<file>`, and an index beside it. Done again, it goes on with what is not there.
 * Links inside the folder are refused, so nothing is written outside of it.
 */
export class FolderTarget implements ExportTarget {
  readonly atOnce = TRANSFERS;
  readonly #side: Drives;
  readonly #tree: PlainTree;
  readonly #force: boolean;
  readonly #index: Map<string, IndexEntry>;
  readonly #plan: LocalPaths;
  readonly #unseen: Set<string>;
  readonly #file: Deno.FsFile;

  private constructor(
    side: Drives,
    { force, system }: FolderOptions,
    tree: PlainTree,
    index: Map<string, IndexEntry>,
    file: Deno.FsFile,
  ) {
    this.#side = side;
    this.#tree = tree;
    this.#force = force;
    this.#index = index;
    this.#file = file;
    this.#unseen = new Set(index.keys());
    this.#plan = new LocalPaths(system);
    for (const { path } of index.values()) this.#plan.reserve(path);
  }

  /** @throws {ClientError} where the folder cannot be used. */
  static async open(side: Drives, options: FolderOptions): Promise<FolderTarget> {
    const { folder } = options;
    try {
      const tree = await PlainTree.open(folder);
      await tree.makeFolder(PARTS_FOLDER);
      await tree.makeFolder(DRIVES_FOLDER);
      const path = join(tree.root, INDEX_NAME);
      const file = await openPlainFile(path);
      const index = await indexBy(readFile(path), fileKey);
      for (const [key, { problem }] of index) if (problem !== undefined) index.delete(key);
      await file.seek(0, Deno.SeekMode.End);
      // A line that was not written to its end would spoil the next one.
      await file.write(new TextEncoder().encode("\n"));
      return new FolderTarget(side, options, tree, index, file);
    } catch (error) {
      throw fileError("use the folder", folder, error);
    }
  }

  async has(drive: string, file: FileInfo): Promise<boolean> {
    const key = fileKey({ drive, name: file.name });
    this.#unseen.delete(key);
    const known = this.#index.get(key);
    return known?.etag === file.etag && (await this.#look(known.path))?.size === file.size;
  }

  async add(drive: string, file: FileInfo, onBytes: (count: number) => void): Promise<void> {
    const known = this.#index.get(fileKey({ drive, name: file.name }));
    const path = known?.path ?? this.#plan.pathFor(`${DRIVES_FOLDER}/${drive}/${file.name}`);
    if (known === undefined && !this.#force) await this.#demandFree(path, file);
    const target = await this.#tree.makeParent(path).catch((error) => {
      throw fileError("make the folder of", path, error);
    });
    await this.#tree.makeFolder(PARTS_FOLDER);
    const folder = join(this.#tree.root, PARTS_FOLDER);
    await download({ side: this.#side, drive, file }, target, { folder, onBytes });
    await this.#note(indexEntry(drive, file, path));
  }

  async finish(): Promise<void> {
    await this.#file.sync();
    await Deno.remove(join(this.#tree.root, PARTS_FOLDER), { recursive: true });
  }

  leftOver(drive: string): IndexEntry[] {
    const unseen = [...this.#unseen].flatMap((key) => this.#index.get(key) ?? []);
    return unseen.filter((entry) => entry.drive === drive);
  }

  [Symbol.dispose](): void {
    this.#file.close();
  }

  /** What is there and not known is somebody else's, or was fetched right before the program was ended. */
  async #demandFree(path: string, file: FileInfo): Promise<void> {
    const there = await this.#look(path);
    if (there === undefined) return;
    const time = there.mtime?.getTime() ?? 0;
    if (there.size === file.size && isSameTime(time, file.modified)) return;
    throw new ClientError(`There is another file ${path} already: --force replaces it`);
  }

  async #look(path: string): Promise<Deno.FileInfo | undefined> {
    try {
      return await Deno.lstat(join(this.#tree.root, path));
    } catch (error) {
      if (error instanceof Deno.errors.NotFound || error instanceof Deno.errors.NotADirectory) {
        return undefined;
      }
      throw fileError("look at", path, error);
    }
  }

  async #note(entry: IndexEntry): Promise<void> {
    this.#index.set(fileKey(entry), entry);
    // A line goes out in one call, so that those of files fetched side by side don't mix.
    await this.#file.write(new TextEncoder().encode(indexLine(entry)));
  }
}

interface FolderOptions {
  folder: string;
  /** Whether files that are there and not known are replaced. */
  force: boolean;
  system: FileSystem;
}

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
    yield { path: folder, problem: fileError("read", folder, error).message, hasFailed: true };
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
    throw fileError("read", folder, error);
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
    throw fileError("read", path, error);
  }
}

import { join } from "@std/path/join";
import { download } from "../download.ts";
import { copyTime, type FileInfo, type RemoteDrives } from "../drives.ts";
import { ClientError, fileError } from "../errors.ts";
import {
  fileSource,
  isNotFound,
  isSameTime,
  kindOf,
  openPlainFile,
  PlainTree,
  readFile,
} from "../local_files.ts";
import { type FileSystem, LocalPaths } from "../../rules/archive/local_paths.ts";
import { NameFilter } from "../../rules/globs.ts";
import { localTree } from "../sync/tree.ts";
import { TRANSFERS } from "../transfers.ts";
import type { ExportTarget } from "./export.ts";
import {
  type ImportFile,
  type ImportFolder,
  type ImportProblem,
  type ImportSource,
  noDrives,
} from "./import.ts";
import {
  DRIVES_FOLDER,
  fileKey,
  folderEntry,
  INDEX_NAME,
  indexBy,
  type IndexEntry,
  indexEntry,
  indexLine,
} from "./index.ts";

/** The folder of incomplete downloads within an export. */
const PARTS_FOLDER = ".kvdrive-partial";

/**
 * Exports to a folder: files and empty folders at `drives/<drive>/<name>`, and an index next to `drives`. Repeated, it fetches what is
 * missing. Links inside the folder are refused, so that nothing is written outside of it.
 */
export class FolderTarget implements ExportTarget {
  readonly concurrency = TRANSFERS;
  readonly #force: boolean;
  readonly #paths: LocalPaths;
  readonly #obsolete: Set<string>;

  private constructor(
    private readonly drives: RemoteDrives,
    { force, system }: FolderOptions,
    private readonly tree: PlainTree,
    private readonly index: Map<string, IndexEntry>,
    private readonly file: Deno.FsFile,
  ) {
    this.#force = force;
    this.#obsolete = new Set(index.keys());
    this.#paths = new LocalPaths(system);
    for (const { path } of index.values()) this.#paths.reserve(path);
  }

  /** Opens or creates the folder. @throws {ClientError} if that fails. */
  static async open(drives: RemoteDrives, options: FolderOptions): Promise<FolderTarget> {
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
      // Ends a line that a crash cut off.
      await file.write(new TextEncoder().encode("\n"));
      return new FolderTarget(drives, options, tree, index, file);
    } catch (error) {
      throw fileError("use the folder", folder, error);
    }
  }

  async has(drive: string, file: FileInfo): Promise<boolean> {
    const key = fileKey({ drive, name: file.name });
    this.#obsolete.delete(key);
    const known = this.index.get(key);
    return known?.etag === file.etag && (await this.#stat(known.path))?.size === file.size;
  }

  async add(drive: string, file: FileInfo, onBytes: (count: number) => void): Promise<void> {
    const known = this.index.get(fileKey({ drive, name: file.name }));
    const path = known?.path ?? this.#paths.pathFor(`${DRIVES_FOLDER}/${drive}/${file.name}`);
    if (known === undefined && !this.#force) await this.#requireFree(path, file);
    const target = await this.tree.makeParent(path).catch((error) => {
      throw fileError("create the folder of", path, error);
    });
    await this.tree.makeFolder(PARTS_FOLDER);
    const folder = join(this.tree.root, PARTS_FOLDER);
    await download({ drives: this.drives, drive, file }, target, { folder, onBytes });
    await this.#note(indexEntry(drive, file, path));
  }

  async addFolder(drive: string, name: string): Promise<void> {
    const key = fileKey({ drive, name });
    this.#obsolete.delete(key);
    const known = this.index.get(key);
    const path = known?.path ?? this.#paths.folderFor(`${DRIVES_FOLDER}/${drive}/${name}`);
    await this.tree.makeFolder(path.slice(0, -1)).catch((error) => {
      throw fileError("create the folder", path, error);
    });
    if (known === undefined) await this.#note(folderEntry(drive, name, path));
  }

  async finish(): Promise<void> {
    await this.file.sync();
    await Deno.remove(join(this.tree.root, PARTS_FOLDER), { recursive: true });
  }

  obsolete(drive: string): IndexEntry[] {
    const obsolete = [...this.#obsolete].flatMap((key) => this.index.get(key) ?? []);
    return obsolete.filter((entry) => entry.drive === drive);
  }

  [Symbol.dispose](): void {
    this.file.close();
  }

  /**
   * @throws {ClientError} if an unknown file is at the path. One with the right size and time is from this export: it was
   * ended before the file was added to the index.
   */
  async #requireFree(path: string, file: FileInfo): Promise<void> {
    const there = await this.#stat(path);
    if (there === undefined) return;
    const time = there.mtime?.getTime() ?? 0;
    if (there.size === file.size && isSameTime(time, copyTime(file))) return;
    throw new ClientError(`Another file ${path} exists: --force replaces it`);
  }

  async #stat(path: string): Promise<Deno.FileInfo | undefined> {
    try {
      return await Deno.lstat(join(this.tree.root, path));
    } catch (error) {
      if (isNotFound(error)) return undefined;
      throw fileError("read", path, error);
    }
  }

  async #note(entry: IndexEntry): Promise<void> {
    this.index.set(fileKey(entry), entry);
    // One call per line keeps the lines of concurrent downloads apart.
    await this.file.write(new TextEncoder().encode(indexLine(entry)));
  }
}

interface FolderOptions {
  folder: string;
  /** Whether existing files that are not from this export are replaced. */
  force: boolean;
  system: FileSystem;
}

/** Everything in an export is imported. */
const ALL = { filter: new NameFilter({}) };

export class FolderSource implements ImportSource {
  private constructor(
    private readonly folder: string,
    readonly bytes: number,
    readonly index: ReadonlyMap<string, IndexEntry>,
  ) {}

  /**
   * @param folder The export, or a folder with one export in it. It may be a link; links inside are not followed.
   * @throws {ClientError} if the folder has no export.
   */
  static async open(folder: string): Promise<FolderSource> {
    const root = await findExport(folder);
    let bytes = 0;
    for await (const entry of localTree(join(root, DRIVES_FOLDER), ALL)) {
      if (entry.kind === "file") bytes += entry.size;
    }
    return new FolderSource(root, bytes, await readIndexOf(root));
  }

  async *entries(): AsyncIterable<ImportFile | ImportFolder | ImportProblem> {
    for await (const entry of localTree(join(this.folder, DRIVES_FOLDER), ALL)) {
      const path = `${DRIVES_FOLDER}/${entry.name}`;
      if (entry.kind === "file") yield this.#fileAt(path);
      else if (entry.kind === "folder") yield { path, isEmpty: entry.isEmpty };
      else {
        const { reason, effect } = entry;
        yield { path, problem: reason, hasFailed: effect !== "ignored" };
      }
    }
  }

  #fileAt(path: string): ImportFile | ImportProblem {
    try {
      const source = fileSource(join(this.folder, path), { follows: false });
      return { path, size: source.size, source };
    } catch (error) {
      const problem = error instanceof Error ? error.message : String(error);
      return { path, problem, hasFailed: true };
    }
  }
}

/**
 * Returns the folder of the export, as an absolute path without links: the given one, or the only one inside it that has
 * drives, as unpacking an archive often leaves it.
 */
async function findExport(folder: string): Promise<string> {
  try {
    const root = await Deno.realPath(folder);
    const kind = await kindOf(join(root, DRIVES_FOLDER));
    if (kind === "folder") return root;
    if (kind === "link") throw linkError(join(folder, DRIVES_FOLDER));
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
      throw new ClientError(`There is no folder ${folder}: give the folder of an export`);
    }
    throw fileError("read", folder, error);
  }
}

function linkError(path: string): ClientError {
  return new ClientError(
    `${path} is a symbolic link, which is not followed: replace it with the files it points to`,
  );
}

async function readIndexOf(folder: string): Promise<Map<string, IndexEntry>> {
  const path = join(folder, INDEX_NAME);
  try {
    const kind = await kindOf(path);
    if (kind === undefined) return new Map();
    if (kind === "link") throw linkError(path);
    const { read } = fileSource(path, { follows: false });
    return await indexBy(read(), (entry) => entry.path);
  } catch (error) {
    throw fileError("read", path, error);
  }
}

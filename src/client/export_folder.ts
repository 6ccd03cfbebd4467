import { join } from "@std/path";
import { TRANSFERS } from "../drive/limits.ts";
import { download } from "./download.ts";
import type { DriveSide, FileInfo } from "./drive_side.ts";
import { cannot, ClientError } from "./errors.ts";
import type { ExportTarget } from "./export_drives.ts";
import {
  DRIVES_FOLDER,
  fileKey,
  INDEX_NAME,
  indexBy,
  type IndexEntry,
  indexEntry,
  indexLine,
} from "./export_index.ts";
import { PathPlan } from "./path_plan.ts";
import { openPlainFile, PlainTree } from "./plain_tree.ts";
import type { FileSystem } from "./safe_segment.ts";
import { isSameTime } from "./same_time.ts";
import { readFile } from "./source.ts";

/** Where files lie that are not whole. */
const PARTS_FOLDER = ".kvdrive-partial";

/**
 * Exports to a folder: `drives/<drive>/<file>`, and an index beside it. Done again, it goes on with what is not there.
 * Links inside the folder are refused, so nothing is written outside of it.
 */
export class FolderTarget implements ExportTarget {
  readonly atOnce = TRANSFERS;
  readonly #side: DriveSide;
  readonly #tree: PlainTree;
  readonly #force: boolean;
  readonly #index: Map<string, IndexEntry>;
  readonly #plan: PathPlan;
  readonly #unseen: Set<string>;
  readonly #file: Deno.FsFile;

  private constructor(
    side: DriveSide,
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
    this.#plan = new PathPlan(system);
    for (const { path } of index.values()) this.#plan.keep(path);
  }

  /** @throws {ClientError} where the folder cannot be used. */
  static async open(side: DriveSide, options: FolderOptions): Promise<FolderTarget> {
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
      throw cannot("use the folder", folder, error);
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
    const path = known?.path ?? this.#plan.place(`${DRIVES_FOLDER}/${drive}/${file.name}`);
    if (known === undefined && !this.#force) await this.#demandFree(path, file);
    const target = await this.#tree.makePlace(path).catch((error) => {
      throw cannot("make the folder of", path, error);
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
      throw cannot("look at", path, error);
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

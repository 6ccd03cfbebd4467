import { dirname } from "@std/path/dirname";
import { join } from "@std/path/join";
import { type FileSystem, localNameProblem } from "../../rules/archive/local_paths.ts";
import type { NameFilter } from "../../rules/transfer/globs.ts";
import { download } from "../download.ts";
import { type OnBytes, withVersion } from "../transfers.ts";
import { type RemoteDrives, sha256OfStream } from "../drives.ts";
import { ClientError, fileError } from "../errors.ts";
import {
  isNotFound,
  isSameTime,
  kindOf,
  PlainTree,
  readFile,
  removeIfExists,
} from "../local_files.ts";
import { localTree } from "./local_tree.ts";
import { type RemoteFolder, remoteTree } from "./remote_tree.ts";
import { Blocked, type SyncSides } from "./sync.ts";
import type { FileEntry, TreeEntry } from "./tree.ts";

export interface DownloadSidesOptions {
  filter: NameFilter;
  system: FileSystem;
  /** Whether the folder is created if there is none. */
  creates: boolean;
}

/** Makes a folder of this machine like a folder of a drive. */
export class DownloadSides implements SyncSides {
  readonly #parts: string[] = [];

  private constructor(
    readonly place: RemoteFolder,
    private readonly folder: string,
    private readonly drives: RemoteDrives,
    private readonly options: DownloadSidesOptions,
    /** `undefined` while there is no folder, in a dry run. */
    private readonly tree: PlainTree | undefined,
  ) {}

  /** @throws {ClientError} if the folder cannot be used. */
  static async open(
    place: RemoteFolder,
    folder: string,
    drives: RemoteDrives,
    options: DownloadSidesOptions,
  ): Promise<DownloadSides> {
    try {
      const isThere = options.creates || await kindOf(folder) !== undefined;
      const tree = isThere ? await PlainTree.open(folder) : undefined;
      return new DownloadSides(place, folder, drives, options, tree);
    } catch (error) {
      throw fileError("use the folder", folder, error);
    }
  }

  source(): AsyncIterable<TreeEntry> {
    const { filter, system } = this.options;
    return remoteTree(this.drives, this.place, {
      filter,
      problemOf: (name) => localNameProblem(name, system),
    });
  }

  async *target(): AsyncGenerator<TreeEntry> {
    if (this.tree === undefined) return;
    const { filter } = this.options;
    yield* localTree(this.tree.root, { filter, onPart: (path) => this.#parts.push(path) });
  }

  hasSameTime(source: FileEntry, target: FileEntry): boolean {
    return source.time !== undefined && target.time !== undefined &&
      isSameTime(target.time, source.time);
  }

  async hasSameBytes(source: FileEntry, target: FileEntry): Promise<boolean | undefined> {
    const { drive, prefix } = this.place;
    const { sha256, size } = await this.drives.stat(drive, prefix + source.name) ?? {};
    if (sha256 === undefined || size !== target.size) return undefined;
    return await sha256OfStream(readFile(this.#pathOf(target.name))) === sha256;
  }

  async setTime({ time }: FileEntry, target: FileEntry): Promise<void> {
    if (time === undefined) return;
    try {
      await Deno.utime(await this.#plainPath(target.name), time / 1000, time / 1000);
    } catch (error) {
      throw fileError("set the time of", this.#pathOf(target.name), error);
    }
  }

  async send(
    source: FileEntry,
    target: FileEntry | undefined,
    onBytes: OnBytes,
  ): Promise<number | undefined> {
    const path = await this.#makeParent(source.name);
    await this.#requireFree(path, target !== undefined);
    if (source.file === undefined) throw new TypeError("Files of a drive have a version");
    const from = { drives: this.drives, drive: this.place.drive, file: source.file };
    return await withVersion(from, onBytes, async (file, onBytes) => {
      await download({ ...from, file }, path, { onBytes });
      return file.size;
    });
  }

  async makeFolder(name: string): Promise<void> {
    await this.#makeParent(name);
  }

  async remove(names: readonly string[]): Promise<ReadonlyMap<string, string>> {
    const failed = new Map<string, string>();
    for (const name of names) {
      try {
        await Deno.remove(await this.#plainPath(name));
      } catch (error) {
        // A folder in which the filters leave something stays.
        const stays = name.endsWith("/") && isNotEmpty(error);
        if (!isNotFound(error) && !stays) {
          failed.set(name, fileError("delete", this.#pathOf(name), error).message);
        }
      }
    }
    return failed;
  }

  async cleanUp(): Promise<void> {
    for (const path of this.#parts.splice(0)) {
      await removeIfExists(path).catch((error) => {
        throw fileError("delete", path, error);
      });
    }
  }

  #pathOf(name: string): string {
    return join(this.tree?.root ?? this.folder, name);
  }

  /** Returns the path of a file that was listed. @throws {ClientError} if a folder on it has become a link since. */
  async #plainPath(name: string): Promise<string> {
    const path = this.#pathOf(name).replace(/[\\/]$/, "");
    const folder = dirname(path);
    if (await Deno.realPath(folder) === folder) return path;
    throw new ClientError(`A symbolic link is on the path of ${path}, which is not followed`);
  }

  /** Creates the folder of a file, or a folder itself. @throws {Blocked} if something else is in its place. */
  async #makeParent(name: string): Promise<string> {
    if (this.tree === undefined) throw new TypeError("Nothing is written in a dry run");
    try {
      return await this.tree.makeParent(name);
    } catch (error) {
      if (error instanceof ClientError) throw new Blocked(error.message);
      throw fileError("create the folder of", this.#pathOf(name), error);
    }
  }

  /** @throws {Blocked} if there is a folder, or a file of which only the case or the form of its letters is the same. */
  async #requireFree(path: string, isExpected: boolean): Promise<void> {
    const kind = await kindOf(path).catch((error) => {
      throw fileError("read", path, error);
    });
    if (kind === "folder") throw new Blocked(`${path} is a folder: rename or remove it`);
    if (kind !== "file" || isExpected) return;
    const real = await Deno.realPath(path).catch(() => path);
    if (real === path) return;
    throw new Blocked(`The file system cannot tell it from ${real}: rename one of them`);
  }
}

function isNotEmpty(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "ENOTEMPTY";
}

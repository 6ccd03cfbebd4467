import type { NameFilter } from "../../rules/globs.ts";
import { ClientError, fileError } from "../errors.ts";
import { relocate } from "./relocation.ts";
import { type RemoteDrives, sha256OfStream } from "../drives.ts";
import { Blocked, type SyncSides } from "./sync.ts";
import { dirname } from "@std/path/dirname";
import { join } from "@std/path/join";
import { type FileSystem, localNameProblem } from "../../rules/archive/local_paths.ts";
import { download } from "../download.ts";
import { type OnBytes, withVersion } from "../transfers.ts";
import {
  fileSource,
  isNotFound,
  isSameTime,
  kindOf,
  PlainTree,
  readFile,
  removeIfExists,
} from "../local_files.ts";
import {
  type FileEntry,
  localTree,
  type RemoteFolder,
  remoteTree,
  removeIn,
  type TreeEntry,
} from "./tree.ts";
import { Semaphore } from "../../rules/concurrency.ts";
import { contentTypeOf } from "../../rules/content_type.ts";
import {
  byteLength,
  fileNameProblem,
  folderNameProblem,
  MAX_FILE_NAME,
} from "../../rules/names.ts";
import { upload, type UploadStates } from "../upload.ts";

/** Makes a folder of a drive like another folder of the project. The server copies the files; no bytes are sent. */
export class CopySides implements SyncSides {
  /** @throws {ClientError} if one of the folders is in the other one: copying would have no end. */
  constructor(
    private readonly from: RemoteFolder,
    readonly place: RemoteFolder,
    private readonly drives: RemoteDrives,
    private readonly filter: NameFilter,
  ) {
    const isInside = place.prefix.startsWith(from.prefix) || from.prefix.startsWith(place.prefix);
    if (from.drive !== place.drive || !isInside) return;
    throw new ClientError(
      `${from.drive}:${from.prefix} and ${place.drive}:${place.prefix} are in each other: choose folders apart`,
    );
  }

  source(): AsyncIterable<TreeEntry> {
    return remoteTree(this.drives, this.from, { filter: this.filter });
  }

  target(): AsyncIterable<TreeEntry> {
    return remoteTree(this.drives, this.place, { filter: this.filter });
  }

  /**
   * A copy keeps the client's time. Without one, only a copy that was made before the source was written is known to
   * differ: an older file may have been moved to the name of the source since, or restored from the trash.
   */
  hasSameTime({ file: source }: FileEntry, { file: target }: FileEntry): boolean | undefined {
    if (source === undefined || target === undefined) return false;
    if (source.mtime !== undefined || target.mtime !== undefined) {
      return source.mtime === target.mtime;
    }
    return target.modified >= source.modified ? undefined : false;
  }

  async hasSameBytes(source: FileEntry, target: FileEntry): Promise<boolean | undefined> {
    const [one, other] = await Promise.all([
      this.drives.stat(this.from.drive, this.from.prefix + source.name),
      this.drives.stat(this.place.drive, this.place.prefix + target.name),
    ]);
    if (one?.sha256 === undefined || other?.sha256 === undefined) return undefined;
    return one.sha256 === other.sha256;
  }

  async send({ name, size }: FileEntry): Promise<number | undefined> {
    const { drive, prefix } = this.from;
    const relocation = { kind: "copy", drive, toDrive: this.place.drive, overwrite: true } as const;
    const pair = { from: prefix + name, to: this.place.prefix + name };
    return await relocate(this.drives, relocation, pair) ? size : undefined;
  }

  async makeFolder(name: string): Promise<void> {
    await this.drives.createFolder(this.place.drive, this.place.prefix + name);
  }

  async remove(names: readonly string[]): Promise<ReadonlyMap<string, string>> {
    return await removeIn(this.drives, this.place, names);
  }
}

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

export interface UploadSidesOptions {
  /** Files and parts in memory at once. */
  concurrency: number;
  filter: NameFilter;
  states: UploadStates;
}

/** Makes a folder of a drive like a folder of this machine. */
export class UploadSides implements SyncSides {
  readonly #slots: Semaphore;

  private constructor(
    private readonly root: string,
    readonly place: RemoteFolder,
    private readonly drives: RemoteDrives,
    private readonly options: UploadSidesOptions,
  ) {
    this.#slots = new Semaphore(options.concurrency);
  }

  /** @throws {ClientError} if there is no such folder. */
  static async open(
    folder: string,
    place: RemoteFolder,
    drives: RemoteDrives,
    options: UploadSidesOptions,
  ): Promise<UploadSides> {
    return new UploadSides(await realFolder(folder), place, drives, options);
  }

  async *source(): AsyncGenerator<TreeEntry> {
    for await (const entry of localTree(this.root, this.options)) {
      const { name } = entry;
      const reason = entry.kind === "problem" ? undefined : this.#problemOf(name);
      if (reason === undefined) yield entry;
      else yield { kind: "problem", name, reason, effect: "unsuitable" };
    }
  }

  target(): AsyncIterable<TreeEntry> {
    return remoteTree(this.drives, this.place, this.options);
  }

  hasSameTime(source: FileEntry, target: FileEntry): boolean {
    return source.time !== undefined && target.time !== undefined &&
      isSameTime(source.time, target.time);
  }

  async hasSameBytes(source: FileEntry, target: FileEntry): Promise<boolean | undefined> {
    const { drive, prefix } = this.place;
    const { sha256 } = await this.drives.stat(drive, prefix + target.name) ?? {};
    if (sha256 === undefined) return undefined;
    return await sha256OfStream(readFile(join(this.root, source.name))) === sha256;
  }

  async send(
    { name: own }: FileEntry,
    _target: FileEntry | undefined,
    onBytes: (count: number) => void,
  ): Promise<number | undefined> {
    const { drive, prefix } = this.place;
    const path = join(this.root, own);
    const name = prefix + own;
    try {
      const source = fileSource(path, { follows: false });
      const sent = await upload({ drives: this.drives, drive, name }, source, {
        type: contentTypeOf(name),
        mtime: source.modified,
        isNew: false,
        slots: this.#slots,
        states: this.options.states,
        onBytes,
      });
      return sent.size;
    } catch (error) {
      const isGone = error instanceof ClientError && isNotFound(error.cause);
      if (isGone && await kindOf(path) === undefined) return undefined;
      throw error;
    }
  }

  async makeFolder(name: string): Promise<void> {
    await this.drives.createFolder(this.place.drive, this.place.prefix + name);
  }

  async remove(names: readonly string[]): Promise<ReadonlyMap<string, string>> {
    const fresh = new Set<string>();
    for (const name of names) {
      // It may have been created since the folders were read.
      if (await kindOf(join(this.root, name)) !== undefined) fresh.add(name);
    }
    const extra = names.filter((name) => !fresh.has(name));
    const failed = await removeIn(this.drives, this.place, extra);
    for (const name of fresh) failed.set(name, "it was created meanwhile");
    return failed;
  }

  #problemOf(own: string): string | undefined {
    const name = this.place.prefix + own;
    const isFolder = name.endsWith("/");
    const problem = isFolder ? folderNameProblem(name) : fileNameProblem(name);
    if (problem === undefined) return undefined;
    const bytes = byteLength(name);
    return bytes > MAX_FILE_NAME
      ? `its name in the drive would have ${bytes} bytes, and ${MAX_FILE_NAME} are allowed`
      : `the ${isFolder ? "folder" : "file"} name ${problem}`;
  }
}

/** Returns the absolute path of a folder, without links. @throws {ClientError} if there is none. */
async function realFolder(folder: string): Promise<string> {
  try {
    const path = await Deno.realPath(folder);
    if ((await Deno.stat(path)).isDirectory) return path;
  } catch (error) {
    if (!isNotFound(error)) throw error;
    throw new ClientError(`There is no folder ${folder}`);
  }
  throw new ClientError(`${folder} is no folder: put and cp transfer single files`);
}

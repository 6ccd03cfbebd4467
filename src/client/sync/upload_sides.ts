import { join } from "@std/path/join";
import { Semaphore } from "../../rules/concurrency.ts";
import { contentTypeOf } from "../../rules/content_type.ts";
import type { NameFilter } from "../../rules/transfer/globs.ts";
import {
  byteLength,
  fileNameProblem,
  folderNameProblem,
  MAX_FILE_NAME,
} from "../../rules/names.ts";
import { type RemoteDrives, sha256OfStream } from "../drives.ts";
import { ClientError } from "../errors.ts";
import { fileSource, isNotFound, isSameTime, kindOf, readFile } from "../local_files.ts";
import { upload, type UploadStates } from "../upload.ts";
import { localTree } from "./local_tree.ts";
import { type RemoteFolder, remoteTree, removeIn } from "./remote_tree.ts";
import type { SyncSides } from "./sync.ts";
import type { FileEntry, TreeEntry } from "./tree.ts";

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

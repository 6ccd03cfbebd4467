import type { FileInfo, RemoteDrives } from "../../../client/drives.ts";
import { ClientError, hasStatus } from "../../../client/errors.ts";
import { remoteTree } from "../../../client/sync/tree.ts";
import type { Glob, NameFilter } from "../../../rules/globs.ts";
import { isFolder, type Selection } from "../drive_path.ts";

/** A file, or a folder that is kept although it may be empty, that an operand selects. */
export type Selected =
  | { kind: "file"; file: FileInfo; below: string }
  /** The name of a folder ends with a slash, and so does `below`. */
  | { kind: "folder"; name: string; below: string };

/** A pattern or a folder that selects nothing. */
class NothingSelected extends ClientError {}

type Choice =
  | { single: FileInfo }
  | { glob: Glob }
  /** `own` precedes the names below the folder: its own name with a slash, or nothing. */
  | { folder: string; own: string };

/** What an operand `DRIVE:NAME` selects on a server. `below` is what a file is called below a folder into which it is copied. */
export class RemoteSource {
  readonly drive: string;
  /** As it was typed. */
  readonly text: string;

  private constructor(
    private readonly drives: RemoteDrives,
    { drive, text }: Selection,
    private readonly choice: Choice,
  ) {
    this.drive = drive;
    this.text = text;
  }

  /**
   * Finds out what an operand selects: the files that match a pattern, those in a folder (with a slash at its end), a single
   * file, or a folder with its own name (without a slash). `undefined` if there is no such file or folder.
   */
  static async find(
    drives: RemoteDrives,
    selection: Selection,
  ): Promise<RemoteSource | undefined> {
    const { drive, glob } = selection;
    const { literal: name } = glob;
    if (name === undefined) return new RemoteSource(drives, selection, { glob });
    if (isFolder({ drive, name })) {
      return new RemoteSource(drives, selection, { folder: name, own: "" });
    }
    const single = await drives.stat(drive, name);
    if (single !== undefined) return new RemoteSource(drives, selection, { single });
    const folder = `${name}/`;
    if (!await hasFolder(drives, drive, folder)) return undefined;
    const own = folder.slice(name.lastIndexOf("/") + 1);
    return new RemoteSource(drives, selection, { folder, own });
  }

  /** Finds what an operand selects. @throws {ClientError} if there is nothing. */
  static async require(drives: RemoteDrives, selection: Selection): Promise<RemoteSource> {
    const source = await RemoteSource.find(drives, selection);
    if (source !== undefined) return source;
    throw new ClientError(`There is no file ${selection.drive}:${selection.glob.literal}`);
  }

  /** The only file, if the operand is the name of one. */
  get single(): FileInfo | undefined {
    return "single" in this.choice ? this.choice.single : undefined;
  }

  /** The folder, if the operand is one. */
  get folder(): string | undefined {
    return "folder" in this.choice ? this.choice.folder : undefined;
  }

  /** What all names begin with. */
  get prefix(): string {
    const choice = this.choice;
    if ("glob" in choice) return choice.glob.prefix;
    return "single" in choice ? choice.single.name : choice.folder;
  }

  /** Lists what is selected. @throws {ClientError} if there is nothing, not even something that the filter leaves out. */
  async *entries(filter: NameFilter): AsyncGenerator<Selected> {
    const choice = this.choice;
    if ("single" in choice) {
      const file = choice.single;
      const below = file.name.slice(file.name.lastIndexOf("/") + 1);
      if (filter.passes(below)) yield { kind: "file", file, below };
    } else if ("glob" in choice) yield* this.#matches(choice.glob, filter);
    else yield* this.#inFolder(choice, filter);
  }

  /** Passes on what is selected. Returns why there is nothing; `undefined` if there is something. */
  async findAll(
    filter: NameFilter,
    take: (entry: Selected) => void,
  ): Promise<string | undefined> {
    try {
      for await (const entry of this.entries(filter)) take(entry);
      return undefined;
    } catch (error) {
      if (error instanceof NothingSelected) return error.message;
      throw error;
    }
  }

  async *#matches(glob: Glob, filter: NameFilter): AsyncGenerator<Selected> {
    let hasMatch = false;
    for await (const file of this.drives.entries(this.drive, glob.prefix, !glob.isFlat)) {
      if (file.size === undefined || !glob.matches(file.name)) continue;
      hasMatch = true;
      const below = file.name.slice(glob.folder.length);
      if (filter.passes(below)) yield { kind: "file", file, below };
    }
    if (!hasMatch) throw new NothingSelected(`No file matches ${this.text}`);
  }

  async *#inFolder(
    { folder, own }: { folder: string; own: string },
    filter: NameFilter,
  ): AsyncGenerator<Selected> {
    let isEmpty = true;
    const place = { drive: this.drive, prefix: folder };
    for await (const entry of remoteTree(this.drives, place, { filter })) {
      isEmpty = false;
      const below = own + entry.name;
      if (entry.kind === "file" && entry.file !== undefined) {
        yield { kind: "file", file: entry.file, below };
      } else yield { kind: "folder", name: folder + entry.name, below };
    }
    // What is there may be left out by the filter.
    if (!isEmpty || await hasAny(this.drives.listFiles(this.drive, folder))) return;
    if (folder !== "" && await hasFolder(this.drives, this.drive, folder)) {
      return yield { kind: "folder", name: folder, below: own };
    }
    throw new NothingSelected(`There are no files in ${this.drive}:${folder}`);
  }
}

/** Reports whether a drive has a folder. A key that may not list sees no folders. */
async function hasFolder(drives: RemoteDrives, drive: string, folder: string): Promise<boolean> {
  try {
    return await drives.hasFolder(drive, folder);
  } catch (error) {
    if (hasStatus(error, 403)) return false;
    throw error;
  }
}

async function hasAny(items: AsyncIterable<unknown>): Promise<boolean> {
  for await (const _ of items) return true;
  return false;
}

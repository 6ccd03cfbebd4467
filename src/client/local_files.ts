import { join } from "@std/path";
import { ClientError, FileChanged, fileError } from "./errors.ts";

/** Bytes that are to be sent. They can be read more than once unless they come from a pipe. */
export interface Source {
  /** Bytes, where they are known before they are read. */
  size: number | undefined;
  /** Tells it from all others, for an upload that goes on; a pipe has none. */
  identity: string | undefined;
  /** Another one when it is known to have changed. */
  stamp: string;
  read(): AsyncIterable<Uint8Array>;
  /** @throws {FileChanged} where it is not what it was when it was opened. */
  verify(): Promise<void>;
}

/** Bytes that are read from a file at once. */
const PIECE = 256 * 1024;

/**
 * A file of this machine.
 *
 * @param path A full path where links are not followed.
 * @param follows Whether links on the path are followed; otherwise one is refused, also one that comes while it is read.
 * @throws {ClientError} where it cannot be looked at.
 */
export async function fileSource(
  path: string,
  { follows = true }: { follows?: boolean } = {},
): Promise<Source & { size: number; modified: number }> {
  const { size, stamp, modified } = await statSource(path);
  const identity = await realPathOf(path);
  if (!follows && identity !== path) {
    throw new ClientError("There is a symbolic link on its path, which is not followed");
  }
  return {
    size,
    identity,
    stamp,
    modified,
    read: () => readFile(path, follows ? undefined : stamp),
    async verify() {
      if ((await statSource(path)).stamp !== stamp) throw changed();
    },
  };
}

/** What comes in on a pipe. */
export function pipeSource(pipe: ReadableStream<Uint8Array>): Source {
  return {
    size: undefined,
    identity: undefined,
    stamp: "",
    read: () => pipe,
    verify: () => Promise.resolve(),
  };
}

/**
 * The bytes of a file from its beginning.
 *
 * @param stamp Of the only file that is read. What is at the path later may be another one.
 */
export async function* readFile(path: string, stamp?: string): AsyncIterable<Uint8Array> {
  try {
    using file = await Deno.open(path);
    if (stamp !== undefined && stampOf(await file.stat()) !== stamp) throw changed();
    for (;;) {
      const piece = new Uint8Array(PIECE);
      const count = await file.read(piece);
      if (count === null) return;
      yield piece.subarray(0, count);
    }
  } catch (error) {
    throw fileError("read", path, error);
  }
}

async function statSource(
  path: string,
): Promise<{ size: number; stamp: string; modified: number }> {
  try {
    const info = await Deno.stat(path);
    return { size: info.size, modified: info.mtime?.getTime() ?? 0, stamp: stampOf(info) };
  } catch (error) {
    throw fileError("read", path, error);
  }
}

async function realPathOf(path: string): Promise<string> {
  try {
    return await Deno.realPath(path);
  } catch (error) {
    throw fileError("read", path, error);
  }
}

function stampOf({ size, mtime, ino }: Deno.FileInfo): string {
  return `${size} ${mtime?.getTime() ?? 0} ${ino ?? 0}`;
}

function changed(): FileChanged {
  return new FileChanged("The file was changed while it was read: nothing was stored");
}

/** What lies at a path itself, not at what a link there leads to; `undefined` where there is nothing. */
export async function kindOf(path: string): Promise<"folder" | "file" | "link" | undefined> {
  try {
    const { isDirectory, isSymlink } = await Deno.lstat(path);
    return isDirectory ? "folder" : isSymlink ? "link" : "file";
  } catch (error) {
    if (error instanceof Deno.errors.NotFound || error instanceof Deno.errors.NotADirectory) {
      return undefined;
    }
    throw error;
  }
}

/**
 * Opens a file to read and write it, and makes it if it is not there. A link in its place is refused: it may lead to a
 * file that has nothing to do with this one.
 *
 * @throws {ClientError} for anything but a plain file.
 */
export async function openPlainFile(path: string): Promise<Deno.FsFile> {
  try {
    // An exclusive creation never follows a link.
    return await Deno.open(path, { read: true, write: true, createNew: true, mode: 0o666 });
  } catch (error) {
    if (!(error instanceof Deno.errors.AlreadyExists)) throw error;
  }
  const before = await Deno.lstat(path);
  if (!before.isFile) throw notPlainError(path, before.isSymlink);
  const file = await Deno.open(path, { read: true, write: true });
  const opened = await file.stat();
  if (opened.ino === before.ino && opened.dev === before.dev) return file;
  file.close();
  throw notPlainError(path, true);
}

/** A folder in which files are written, without a way out of it over links. */
export class PlainTree {
  /** As a full path without links. */
  readonly root: string;
  readonly #folders = new Set<string>([""]);

  private constructor(root: string) {
    this.root = root;
  }

  /** Makes the folder if it is not there. The folder itself, or one above it, may be a link: its user named it. */
  static async open(folder: string): Promise<PlainTree> {
    await Deno.mkdir(folder, { recursive: true });
    return new PlainTree(await Deno.realPath(folder));
  }

  /**
   * Makes a folder of the tree, and those above it, if they are not there.
   *
   * @param path From the root on, with slashes; "" is the root.
   * @throws {ClientError} where one of them is a link, or no folder.
   */
  async makeFolder(path: string): Promise<void> {
    if (!this.#folders.has(path)) {
      await this.makeFolder(path.includes("/") ? path.slice(0, path.lastIndexOf("/")) : "");
      await this.#makeOne(path);
      this.#folders.add(path);
    }
    // A folder that was made before may have been replaced meanwhile.
    const full = join(this.root, path);
    if (await Deno.realPath(full) !== full) throw notPlainError(full, true);
  }

  /** The same for the folder of a file; gives the full path of the file. */
  async makeParent(path: string): Promise<string> {
    await this.makeFolder(path.slice(0, Math.max(0, path.lastIndexOf("/"))));
    return join(this.root, path);
  }

  async #makeOne(path: string): Promise<void> {
    const full = join(this.root, path);
    try {
      await Deno.mkdir(full);
    } catch (error) {
      if (!(error instanceof Deno.errors.AlreadyExists)) throw error;
      const kind = await kindOf(full);
      if (kind !== "folder") throw notPlainError(full, kind === "link", "folder");
    }
  }
}

function notPlainError(
  path: string,
  isLink: boolean,
  wanted: "file" | "folder" = "file",
): ClientError {
  return new ClientError(
    isLink
      ? `${path} is or lies behind a symbolic link, which is not followed as it may lead anywhere: remove the link`
      : `${path} is no ${wanted}: rename or remove it`,
  );
}

const SECOND = 1000;

/** What is lost where a time is a fraction of a second. */
const ROUNDING = 2;

/**
 * Whether a file of this machine has the time of one in a drive, in milliseconds since 1970. Some file systems, and the
 * dates of HTTP, know whole seconds only.
 */
export function isSameTime(here: number, there: number): boolean {
  if (Math.abs(here - there) < ROUNDING) return true;
  const isCoarse = here % SECOND === 0 || there % SECOND === 0;
  return isCoarse && Math.floor(here / SECOND) === Math.floor(there / SECOND);
}

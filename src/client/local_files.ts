import { join } from "@std/path/join";
import { ClientError, fileError, KvdriveError } from "./errors.ts";

/** Bytes to be sent. They can be read more than once unless they come from a pipe. */
export interface Source {
  /** Bytes; `undefined` if unknown before reading. */
  size: number | undefined;
  /** Identifies the source when an upload is resumed; a pipe has none. */
  identity: string | undefined;
  /** Changes when the content is known to have changed. */
  stamp: string;
  /** When the content was last modified, in milliseconds since 1970; `undefined` if unknown. */
  modified?: number | undefined;
  read(): AsyncIterable<Uint8Array>;
  /** @throws {KvdriveError} with the code `source_changed` if the content has changed since the source was opened. */
  verify(): void;
}

/** Bytes of the first read, as most files are small, and of later ones at most. */
const FIRST_PIECE = 16 * 1024;
const MAX_PIECE = 256 * 1024;

/**
 * Returns a file of this machine as a source.
 *
 * @param path An absolute path if links are not followed.
 * @param follows Whether links on the path are followed. If not, a link is refused, even one that appears during reading.
 * @throws {ClientError} if the file cannot be read.
 */
export function fileSource(
  path: string,
  { follows = true }: { follows?: boolean } = {},
): Source & { size: number } {
  const info = statSource(path);
  const stamp = stampOf(info);
  const identity = realPathOf(path);
  if (!follows && identity !== path) {
    throw new ClientError("A symbolic link is on its path, which is not followed");
  }
  return {
    size: info.size,
    identity,
    stamp,
    modified: info.mtime?.getTime(),
    read: () => readFile(path, follows ? undefined : stamp),
    verify() {
      if (stampOf(statSource(path)) !== stamp) throw changed();
    },
  };
}

export function pipeSource(pipe: ReadableStream<Uint8Array>): Source {
  return {
    size: undefined,
    identity: undefined,
    stamp: "",
    read: () => pipe,
    verify: () => {},
  };
}

/**
 * Reads a file from its start.
 *
 * @param stamp If given, any other file that is at the path by now is refused.
 */
export async function* readFile(path: string, stamp?: string): AsyncIterable<Uint8Array> {
  try {
    using file = await Deno.open(path);
    if (stamp !== undefined && stampOf(await file.stat()) !== stamp) throw changed();
    let size = FIRST_PIECE;
    for (let room = new Uint8Array(size);;) {
      const count = await file.read(room);
      if (count === null) return;
      yield room.subarray(0, count);
      room = room.subarray(count);
      if (room.byteLength > 0) continue;
      size = Math.min(2 * size, MAX_PIECE);
      room = new Uint8Array(size);
    }
  } catch (error) {
    throw fileError("read", path, error);
  }
}

/** Decodes and splits a stream into lines. */
export async function* linesOf(pieces: AsyncIterable<Uint8Array>): AsyncIterable<string> {
  const decoder = new TextDecoder();
  let rest = "";
  for await (const piece of pieces) {
    const lines = (rest + decoder.decode(piece, { stream: true })).split("\n");
    rest = lines.pop() ?? "";
    yield* lines;
  }
  if (rest !== "") yield rest;
}

export async function writeAll(file: Pick<Deno.FsFile, "write">, bytes: Uint8Array): Promise<void> {
  for (let rest = bytes; rest.byteLength > 0;) rest = rest.subarray(await file.write(rest));
}

/** Replaces a file atomically by one that only its owner can read. */
export async function replacePrivateFile(path: string, text: string): Promise<void> {
  const fresh = `${path}.${crypto.randomUUID()}`;
  try {
    {
      using file = await Deno.open(fresh, { write: true, createNew: true, mode: 0o600 });
      await writeAll(file, new TextEncoder().encode(text));
      await file.sync();
    }
    await Deno.rename(fresh, path);
  } catch (error) {
    await Deno.remove(fresh).catch(() => {});
    throw error;
  }
}

/** Removes a file; does nothing if there is none. */
export async function removeIfExists(path: string): Promise<void> {
  try {
    await Deno.remove(path);
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
  }
}

/** Returns the metadata of a file, following links; `undefined` if there is none. */
export async function statIfExists(path: string): Promise<Deno.FileInfo | undefined> {
  try {
    return await Deno.stat(path);
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw fileError("read", path, error);
  }
}

/** Returns what is at a path, without following a link; `undefined` if there is nothing. */
export async function kindOf(path: string): Promise<"folder" | "file" | "link" | undefined> {
  try {
    const { isDirectory, isSymlink } = await Deno.lstat(path);
    return isDirectory ? "folder" : isSymlink ? "link" : "file";
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw error;
  }
}

/** Reports whether an error says that a file, or a folder of its path, does not exist. */
export function isNotFound(error: unknown): boolean {
  return error instanceof Deno.errors.NotFound || error instanceof Deno.errors.NotADirectory;
}

/**
 * Opens a file for reading and writing, and creates it if needed. A link is refused: it may lead to an unrelated file.
 *
 * @throws {ClientError} if something other than a regular file is there.
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

/** A folder to write files into, which links inside of it cannot lead out of. */
export class PlainTree {
  readonly #folders = new Set<string>([""]);

  private constructor(
    /** An absolute path without links. */
    readonly root: string,
  ) {}

  /** Opens a folder, and creates it if needed. The folder itself, or one above it, may be a link. */
  static async open(folder: string): Promise<PlainTree> {
    await Deno.mkdir(folder, { recursive: true });
    return new PlainTree(await Deno.realPath(folder));
  }

  /**
   * Creates a folder of the tree and its parents, if needed.
   *
   * @param path From the root, with slashes; "" is the root.
   * @throws {ClientError} if one of them is a link, or no folder.
   */
  async makeFolder(path: string): Promise<void> {
    if (!this.#folders.has(path)) {
      await this.makeFolder(path.includes("/") ? path.slice(0, path.lastIndexOf("/")) : "");
      await this.#makeOne(path);
      this.#folders.add(path);
    }
    // Another program may have replaced the folder since.
    const full = join(this.root, path);
    if (await Deno.realPath(full) !== full) throw notPlainError(full, true);
  }

  /** Creates the folder of a file, and returns the absolute path of the file. */
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

/** Milliseconds that a time may lose when it is a fraction of a second in between. */
const ROUNDING = 2;

/**
 * Reports whether a local file and a file of a drive have the same modification time, in milliseconds since 1970. Some
 * file systems, and HTTP dates, have whole seconds only.
 */
export function isSameTime(here: number, there: number): boolean {
  if (Math.abs(here - there) < ROUNDING) return true;
  const isCoarse = here % 1000 === 0 || there % 1000 === 0;
  return isCoarse && Math.floor(here / 1000) === Math.floor(there / 1000);
}

// Asynchronous calls take ten times as long, which is a third of the time of sending a small file.

function statSource(path: string): Deno.FileInfo {
  try {
    return Deno.statSync(path);
  } catch (error) {
    throw fileError("read", path, error);
  }
}

function realPathOf(path: string): string {
  try {
    return Deno.realPathSync(path);
  } catch (error) {
    throw fileError("read", path, error);
  }
}

function stampOf({ size, mtime, ino }: Deno.FileInfo): string {
  return `${size} ${mtime?.getTime() ?? 0} ${ino ?? 0}`;
}

function changed(): KvdriveError {
  const message = "The file changed while it was read; nothing was stored";
  return new KvdriveError(message, { code: "source_changed" });
}

function notPlainError(
  path: string,
  isLink: boolean,
  expected: "file" | "folder" = "file",
): ClientError {
  return new ClientError(
    isLink
      ? `${path} is, or is below, a symbolic link, which is not followed: remove the link`
      : `${path} is not a ${expected}: rename or remove it`,
  );
}

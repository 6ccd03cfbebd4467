import { compareNames } from "../../rules/names.ts";
import { copyTime, type FileInfo, type RemoteDrives } from "../drives.ts";
import { ClientError, fileError } from "../errors.ts";
import { join } from "@std/path/join";
import type { NameFilter } from "../../rules/globs.ts";
import { isPartName } from "../../rules/archive/local_paths.ts";
import { isNotFound } from "../local_files.ts";

export interface FileEntry {
  kind: "file";
  /** Below the root of the tree, with slashes. */
  name: string;
  /** Bytes. */
  size: number;
  /** When it was last modified, in milliseconds since 1970: for a file of a drive, when the copy that was sent was. */
  time: number | undefined;
  /** The version, for a file of a drive. */
  file?: FileInfo;
}

/** A folder of this machine, or one that a drive keeps although it may be empty. */
export interface FolderEntry {
  kind: "folder";
  /** Ends with a slash. */
  name: string;
  isEmpty: boolean;
}

/** A name that cannot be transferred. */
export interface ProblemEntry {
  kind: "problem";
  /** Ends with a slash for a folder that cannot be read. */
  name: string;
  reason: string;
  /**
   * What follows of it: `ignored` things such as links are no files, `unsuitable` names cannot exist on the other side, and
   * behind `unreadable` ones there may be further files.
   */
  effect: "ignored" | "unsuitable" | "unreadable";
}

export type TreeEntry = FileEntry | FolderEntry | ProblemEntry;

/** The files and folders of a tree, in the order of the UTF-8 bytes of their names. */
export type Tree = AsyncIterable<TreeEntry>;

/** A difference between two trees, or the absence of one. */
export type Step =
  | { kind: "new"; source: FileEntry | FolderEntry }
  | { kind: "same name"; source: FileEntry | FolderEntry; target: FileEntry | FolderEntry }
  | { kind: "extra"; target: FileEntry | FolderEntry }
  | { kind: "problem"; side: "source" | "target"; problem: ProblemEntry };

/**
 * Compares two trees by their names, in their order and without keeping them. An extra folder follows what is extra in
 * it; a folder of the target in which the source has something is not extra.
 *
 * @throws {ClientError} if a tree is not in order: what seems to be missing in it may come later.
 */
export async function* compareTrees(sourceTree: Tree, targetTree: Tree): AsyncGenerator<Step> {
  const source = new Cursor(sourceTree);
  const target = new Cursor(targetTree);
  const extraFolders: FolderEntry[] = [];
  const protectedNames = new ProtectedNames();
  try {
    await Promise.all([source.advance(), target.advance()]);
    for (;;) {
      const s = source.head;
      const t = target.head;
      const [first] = [s, t].filter((one) => one !== undefined).sort(byName);
      // The folders that end before the next name.
      while (extraFolders.length > 0 && !first?.name.startsWith(extraFolders.at(-1)?.name ?? "")) {
        const folder = extraFolders.pop();
        if (folder !== undefined) yield { kind: "extra", target: folder };
      }
      if (first === undefined) return;
      if (s?.kind === "problem" && first === s) {
        protectedNames.add(s.name);
        yield { kind: "problem", side: "source", problem: s };
        await source.advance();
      } else if (t?.kind === "problem" && (first === t || s?.name === t.name)) {
        yield { kind: "problem", side: "target", problem: t };
        await target.advance();
      } else if (s?.name === t?.name) {
        if (s === undefined || s.kind === "problem") throw new TypeError("It was handled above");
        if (t === undefined || t.kind === "problem") throw new TypeError("It was handled above");
        yield { kind: "same name", source: s, target: t };
        await Promise.all([source.advance(), target.advance()]);
      } else if (s === first) {
        if (s.kind !== "problem") yield { kind: "new", source: s };
        await source.advance();
      } else {
        if (t !== undefined && t.kind !== "problem" && !protectedNames.has(t.name)) {
          const isNeeded = t.kind === "folder" && (s?.name.startsWith(t.name) ?? false);
          if (t.kind === "folder" && !isNeeded) extraFolders.push(t);
          if (t.kind === "file") yield { kind: "extra", target: t };
        }
        await target.advance();
      }
    }
  } finally {
    await Promise.all([source.close(), target.close()]);
  }
}

/** The smaller name first; of equal ones the first argument. */
function byName(a: TreeEntry, b: TreeEntry): number {
  return compareNames(a.name, b.name);
}

/** Reads a tree entry by entry, and checks its order. */
class Cursor {
  head: TreeEntry | undefined;
  readonly #entries: AsyncIterator<TreeEntry>;

  constructor(tree: Tree) {
    this.#entries = tree[Symbol.asyncIterator]();
  }

  async advance(): Promise<void> {
    const { done, value } = await this.#entries.next();
    const before = this.head;
    this.head = done === true ? undefined : value;
    const isInOrder = before === undefined || this.head === undefined ||
      compareNames(before.name, this.head.name) < 0;
    if (isInOrder) return;
    throw new ClientError(`The names are not in order: ${JSON.stringify(this.head?.name)}`);
  }

  async close(): Promise<void> {
    await this.#entries.return?.();
  }
}

/** Names of the source about which is not known what they are: nothing of that name, or below it, is extra. */
class ProtectedNames {
  readonly #names = new Set<string>();

  add(name: string): void {
    this.#names.add(name.replace(/\/$/, ""));
  }

  has(name: string): boolean {
    if (this.#names.size === 0) return false;
    for (let end = name.indexOf("/"); end !== -1; end = name.indexOf("/", end + 1)) {
      if (this.#names.has(name.slice(0, end))) return true;
    }
    return this.#names.has(name);
  }
}

/** The runtime puts this character in place of bytes that are not UTF-8. */
const REPLACEMENT = "\ufffd";

export interface LocalTreeOptions {
  filter: NameFilter;
  /** Receives the paths of incomplete downloads, which are not in the tree. */
  onPart?: (path: string) => void;
}

/**
 * Lists the files and folders below a folder in the order of the UTF-8 bytes of their names, a folder before what is in
 * it. Links are not followed. Of one folder, and of those that lead there, the names are in memory.
 *
 * @param root An absolute path.
 * @throws {ClientError} if the root cannot be read. Other folders that cannot be read are problems.
 */
export async function* localTree(
  root: string,
  options: LocalTreeOptions,
): AsyncGenerator<TreeEntry> {
  const names = await namesIn(root, "", options);
  if (!Array.isArray(names)) throw new ClientError(names.reason);
  yield* below(root, "", names, options);
}

async function* below(
  root: string,
  folder: string,
  names: readonly string[],
  options: LocalTreeOptions,
): AsyncGenerator<TreeEntry> {
  const { filter } = options;
  for (const own of names) {
    const name = folder + own;
    if (name.endsWith("/")) {
      if (!filter.prunes(name)) yield* inFolder(root, name, options);
    } else if (filter.passes(name)) {
      const fact = factsOf(root, name);
      if (fact !== undefined) yield fact;
    }
  }
}

async function* inFolder(
  root: string,
  name: string,
  options: LocalTreeOptions,
): AsyncGenerator<TreeEntry> {
  const names = await namesIn(root, name, options);
  if (!Array.isArray(names)) return yield names;
  if (options.filter.passesFolder(name)) {
    yield { kind: "folder", name, isEmpty: names.length === 0 };
  }
  yield* below(root, name, names, options);
}

/** Returns the names in a folder, in order, those of folders with a slash; or the reason why it cannot be read. */
async function namesIn(
  root: string,
  folder: string,
  { onPart }: LocalTreeOptions,
): Promise<string[] | ProblemEntry> {
  const path = join(root, folder);
  const names: string[] = [];
  try {
    for await (const { name, isDirectory, isFile } of Deno.readDir(path)) {
      if (isFile && isPartName(name)) onPart?.(join(path, name));
      else names.push(isDirectory ? `${name}/` : name);
    }
  } catch (error) {
    const reason = fileError("read", path, error).message;
    return { kind: "problem", name: folder, reason, effect: "unreadable" };
  }
  return names.sort(compareNames);
}

/**
 * Returns what is at a path that is no folder; `undefined` if it was deleted since its name was read. (An asynchronous call
 * takes 16 times as long: a minute for a million files.)
 */
function factsOf(root: string, name: string): FileEntry | ProblemEntry | undefined {
  try {
    const { isFile, isSymlink, size, mtime } = Deno.lstatSync(join(root, name));
    if (isFile) return { kind: "file", name, size, time: mtime?.getTime() };
    const reason = isSymlink ? "it is a symbolic link" : "it is not a regular file";
    return { kind: "problem", name, reason, effect: "ignored" };
  } catch (error) {
    if (!isNotFound(error)) {
      const reason = fileError("read", join(root, name), error).message;
      return { kind: "problem", name, reason, effect: "unreadable" };
    }
    if (!name.includes(REPLACEMENT)) return undefined;
    return { kind: "problem", name, reason: "its name is not UTF-8", effect: "unsuitable" };
  }
}

/** A folder of a drive: its name ends with a slash, or is empty for the whole drive. */
export interface RemoteFolder {
  drive: string;
  prefix: string;
}

export interface RemoteTreeOptions {
  filter: NameFilter;
  /** Returns why a name cannot exist on the other side; `undefined` if it can. */
  problemOf?: (name: string) => string | undefined;
}

/** Lists the files below a folder of a drive and the folders that it keeps, in the order of the UTF-8 bytes of their names. */
export async function* remoteTree(
  drives: RemoteDrives,
  { drive, prefix }: RemoteFolder,
  { filter, problemOf = () => undefined }: RemoteTreeOptions,
): AsyncGenerator<TreeEntry> {
  const entries = inOrder(drives.listFiles(drive, prefix), drives.listFolders(drive, prefix));
  for await (const entry of entries) {
    const isFolder = typeof entry === "string";
    const name = (isFolder ? entry : entry.name).slice(prefix.length);
    // The marker of the folder itself.
    if (name === "") continue;
    if (!(isFolder ? filter.passesFolder(name) : filter.passes(name))) continue;
    const reason = problemOf(name);
    if (reason !== undefined) yield { kind: "problem", name, reason, effect: "unsuitable" };
    else if (isFolder) yield { kind: "folder", name, isEmpty: true };
    else yield { kind: "file", name, size: entry.size, time: copyTime(entry), file: entry };
  }
}

/** Merges a listing of files and one of folders. */
async function* inOrder(
  files: AsyncIterable<FileInfo>,
  folders: AsyncIterable<string>,
): AsyncGenerator<FileInfo | string> {
  const iterator = folders[Symbol.asyncIterator]();
  try {
    let folder = await iterator.next();
    for await (const file of files) {
      while (folder.done !== true && compareNames(folder.value, file.name) < 0) {
        yield folder.value;
        folder = await iterator.next();
      }
      yield file;
    }
    while (folder.done !== true) {
      yield folder.value;
      folder = await iterator.next();
    }
  } finally {
    await iterator.return?.();
  }
}

/** Deletes files below a folder of a drive, and stops keeping folders. Returns why some could not be deleted. */
export async function removeIn(
  drives: RemoteDrives,
  { drive, prefix }: RemoteFolder,
  names: readonly string[],
): Promise<Map<string, string>> {
  const failed = await drives.remove(drive, names.map((name) => prefix + name));
  const reason = "The server could not delete it";
  return new Map(failed.map((name) => [name.slice(prefix.length), reason]));
}

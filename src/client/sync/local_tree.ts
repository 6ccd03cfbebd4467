import { join } from "@std/path/join";
import type { NameFilter } from "../../rules/transfer/globs.ts";
import { compareNames } from "../../rules/names.ts";
import { isPartName } from "../../rules/archive/local_paths.ts";
import { ClientError, fileError } from "../errors.ts";
import { isNotFound } from "../local_files.ts";
import type { FileEntry, ProblemEntry, TreeEntry } from "./tree.ts";

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

import type { NameFilter } from "../../rules/transfer/globs.ts";
import { compareNames } from "../../rules/names.ts";
import { copyTime, type FileInfo, type RemoteDrives } from "../drives.ts";
import type { TreeEntry } from "./tree.ts";

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

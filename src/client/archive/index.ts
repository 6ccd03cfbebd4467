import { contentTypeProblem } from "../../rules/content_type.ts";
import { driveNameProblem, fileNameProblem, folderNameProblem } from "../../rules/names.ts";
import type { FileInfo } from "../drives.ts";
import { linesOf } from "../local_files.ts";

/** The name of the index beside the folder `drives`. */
export const INDEX_NAME = "kvdrive.jsonl";

/** The folder of the drives in an export, named as in exports of the original service. */
export const DRIVES_FOLDER = "drives";

/** An exported file, or a folder that is kept: one line of the index. Name and path of a folder end with a slash. */
export interface IndexEntry {
  drive: string;
  name: string;
  /** Relative to the folder of the index, with slashes: `drives/photos/cat.jpg`. */
  path: string;
  /** Bytes. */
  size: number;
  content_type: string;
  etag: string;
  /** In ISO 8601. */
  modified: string;
  /** When the copy that was uploaded was last modified, in ISO 8601; absent if the uploader did not say. */
  mtime?: string;
  /** Why the file cannot be imported as the line says: a sentence. */
  problem?: string;
}

export function indexEntry(drive: string, file: FileInfo, path: string): IndexEntry {
  const { name, size, type, etag, modified, mtime } = file;
  return {
    drive,
    name,
    path,
    size,
    content_type: type,
    etag,
    modified: new Date(modified).toISOString(),
    ...(mtime === undefined ? {} : { mtime: new Date(mtime).toISOString() }),
  };
}

/** Returns the index entry of a folder that is kept. */
export function folderEntry(drive: string, name: string, path: string): IndexEntry {
  return { drive, name, path, size: 0, content_type: "", etag: "", modified: "" };
}

export function indexLine(entry: unknown): string {
  return `${JSON.stringify(entry)}\n`;
}

/** Reads the entries of an index, in order. Malformed lines are skipped: a crash may have cut the last one off. */
export async function* readIndex(pieces: AsyncIterable<Uint8Array>): AsyncIterable<IndexEntry> {
  for await (const line of linesOf(pieces)) {
    const entry = parseEntry(line);
    if (entry !== undefined) yield entry;
  }
}

/** Reads an index into a map; of several entries with one key the last wins. */
export async function indexBy(
  pieces: AsyncIterable<Uint8Array>,
  keyOf: (entry: IndexEntry) => string,
): Promise<Map<string, IndexEntry>> {
  const entries = new Map<string, IndexEntry>();
  for await (const entry of readIndex(pieces)) entries.set(keyOf(entry), entry);
  return entries;
}

/** Returns a map key for a file. */
export function fileKey({ drive, name }: { drive: string; name: string }): string {
  return `${drive}\0${name}`;
}

/**
 * Parses a line of an index, which is untrusted. Returns `undefined` unless it names a file or folder of the export; other invalid
 * values become the entry's `problem`.
 */
function parseEntry(line: string): IndexEntry | undefined {
  let entry: Partial<Record<keyof IndexEntry, unknown>>;
  try {
    const value: unknown = JSON.parse(line);
    if (typeof value !== "object" || value === null) return undefined;
    entry = value;
  } catch {
    return undefined;
  }
  const { path } = entry;
  if (typeof path !== "string" || !isInside(path)) return undefined;
  const text = (value: unknown) => typeof value === "string" ? value : "";
  const size = typeof entry.size === "number" ? entry.size : NaN;
  const read = {
    drive: text(entry.drive),
    name: text(entry.name),
    path,
    size,
    content_type: text(entry.content_type),
    etag: text(entry.etag),
    modified: text(entry.modified),
    ...(typeof entry.mtime === "string" ? { mtime: entry.mtime } : {}),
  };
  const problem = problemOf(read);
  return problem === undefined ? read : { ...read, problem };
}

function problemOf({ drive, name, path, size, content_type }: IndexEntry): string | undefined {
  const isFolder = path.endsWith("/");
  const problems = [
    ["drive name", driveNameProblem(drive)],
    isFolder ? ["folder name", folderNameProblem(name)] : ["file name", fileNameProblem(name)],
    ["content type", contentTypeProblem(content_type)],
    ["size", Number.isSafeInteger(size) && size >= 0 ? undefined : "is not a number of bytes"],
  ] as const;
  const found = problems.find(([, problem]) => problem !== undefined);
  return found && `The ${found[0]} in ${INDEX_NAME} ${found[1]}`;
}

/** Reports whether a path is that of a file or folder in the folder of a drive. */
function isInside(path: string): boolean {
  const [folder, ...segments] = path.replace(/\/$/, "").split("/");
  return folder === DRIVES_FOLDER && segments.length >= 2 && !/[\0\\]/.test(path) &&
    segments.every((segment) => !["", ".", ".."].includes(segment));
}

import { contentTypeProblem } from "../../rules/content_type.ts";
import { driveNameProblem, fileNameProblem } from "../../rules/names.ts";
import type { FileInfo } from "../drives.ts";

/** The name of the index beside the folder `drives`. */
export const INDEX_NAME = "kvdrive.jsonl";

/** The folder that the drives are in, as the original service named it. */
export const DRIVES_FOLDER = "drives";

/** What is known of a file that was exported: one line of the index. */
export interface IndexEntry {
  drive: string;
  name: string;
  /** From the folder of the index on, with slashes: `drives/photos/cat.jpg`. */
  path: string;
  /** Bytes. */
  size: number;
  content_type: string;
  etag: string;
  /** A time in ISO 8601. */
  modified: string;
  /** Why the file cannot be imported as the line says, as a sentence. */
  problem?: string;
}

/** The line of a file. */
export function indexEntry(drive: string, file: FileInfo, path: string): IndexEntry {
  const { name, size, type, etag, modified } = file;
  return {
    drive,
    name,
    path,
    size,
    content_type: type,
    etag,
    modified: new Date(modified).toISOString(),
  };
}

export function indexLine(entry: unknown): string {
  return `${JSON.stringify(entry)}\n`;
}

/** The entries of an index, in order. Lines that are none are passed over: one may not be written to its end. */
export async function* readIndex(pieces: AsyncIterable<Uint8Array>): AsyncIterable<IndexEntry> {
  for await (const line of linesOf(pieces)) {
    const entry = parseEntry(line);
    if (entry !== undefined) yield entry;
  }
}

/** The index of a folder by one of its columns; the last line of several counts. */
export async function indexBy(
  pieces: AsyncIterable<Uint8Array>,
  keyOf: (entry: IndexEntry) => string,
): Promise<Map<string, IndexEntry>> {
  const entries = new Map<string, IndexEntry>();
  for await (const entry of readIndex(pieces)) entries.set(keyOf(entry), entry);
  return entries;
}

/** Where a file is, as one text. */
export function fileKey({ drive, name }: { drive: string; name: string }): string {
  return `${drive}\0${name}`;
}

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

/**
 * Reads a line of an index, which anybody may have written; `undefined` where it names no file of the export. What it says
 * of a file that cannot be is its problem.
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
  };
  const problem = problemOf(read);
  return problem === undefined ? read : { ...read, problem };
}

function problemOf({ drive, name, size, content_type }: IndexEntry): string | undefined {
  const problems = [
    ["drive name", driveNameProblem(drive)],
    ["file name", fileNameProblem(name)],
    ["content type", contentTypeProblem(content_type)],
    ["size", Number.isSafeInteger(size) && size >= 0 ? undefined : "is no number of bytes"],
  ] as const;
  const found = problems.find(([, problem]) => problem !== undefined);
  return found && `The ${found[0]} in ${INDEX_NAME} ${found[1]}`;
}

/** Whether a path leads to a file of a drive, and nowhere else. */
function isInside(path: string): boolean {
  const [folder, ...segments] = path.split("/");
  return folder === DRIVES_FOLDER && segments.length >= 2 && !/[\0\\]/.test(path) &&
    segments.every((segment) => !["", ".", ".."].includes(segment));
}

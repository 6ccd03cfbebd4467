import {
  afterPrefix,
  boundaryAfter,
  byteLength,
  compareNames,
  MAX_FILE_NAME,
  nameAfter,
} from "../../rules/names.ts";
import { type KeyRange, ranges } from "../engine/keys.ts";
import { type KvReader, MAX_LIST_BATCH } from "../reads/read_queue.ts";
import type { FileRecord } from "../engine/records.ts";
import { isPresent } from "../files/file_record.ts";

/** Which page of a list of names is asked for. */
export interface PageQuery {
  /** Maximum number of entries. */
  limit: number;
  prefix: string;
  /** The listing continues after this name. */
  last: string;
}

export interface ListQuery extends PageQuery {
  project: string;
  drive: string;
}

/** The record of a file without the metadata of S3, which can have kilobytes. */
export type ListedFile = Omit<FileRecord, "object">;

/** A file, or a directory: its name ends with a slash, and it has no record. */
export interface Listed {
  name: string;
  record?: ListedFile;
}

/** A page of a listing. */
export interface ListPage {
  entries: Listed[];
  /** Whether there is another entry, or another name to look at. */
  more: boolean;
  /** The name after which the next page continues, if it is not that of the last entry. */
  last?: string;
}

/** Returns a page of a drive's files in the order of their names' UTF-8 bytes. */
export async function listFiles(reader: KvReader, query: ListQuery): Promise<ListPage> {
  const range = filesFrom(query, startOf(query));
  const entries = range === undefined ? [] : await readEntries(reader, range, query.limit + 1);
  return page(entries, query.limit);
}

/**
 * Returns a page of the files and directories directly under the prefix: files with another slash in their names appear
 * once, as their directory, and so do markers of folders. The listing skips to the end of each directory, so it costs
 * as much as its entries and not as much as the files in them.
 */
export async function listDirectory(reader: KvReader, query: ListQuery): Promise<ListPage> {
  const from = startAfterLast(query);
  const [files, folders] = await Promise.all([
    readLevel(reader, query, from, filesFrom),
    // The marker of the prefix itself is not in it.
    readLevel(reader, query, from && later(from, nameAfter(query.prefix)), foldersFrom),
  ]);
  return page(folders.length === 0 ? files : merge(files, folders), query.limit);
}

/** Returns a page of the markers of folders in the order of their names' UTF-8 bytes. */
export async function listMarkers(reader: KvReader, query: ListQuery): Promise<ListPage> {
  const range = foldersFrom(query, startOf(query));
  const entries = range === undefined ? [] : await readEntries(reader, range, query.limit + 1);
  return page(entries.map(({ name }) => ({ name })), query.limit);
}

/** Returns the first entries of one level from a name on, one more than the limit. */
async function readLevel(
  reader: KvReader,
  query: ListQuery,
  start: string | undefined,
  rangeFrom: typeof filesFrom,
): Promise<Listed[]> {
  const entries: Listed[] = [];
  let from = start;
  let batch = 1;
  while (from !== undefined && entries.length <= query.limit) {
    const range = rangeFrom(query, from);
    if (range === undefined) break;
    const wanted = Math.min(batch, query.limit + 1 - entries.length);
    const files = await readEntries(reader, range, wanted);
    const directory = takeUntilDirectory(files, query.prefix, entries);
    // Consecutive files are read in growing batches; after a directory the batches start small again.
    batch = directory === undefined ? Math.min(batch * 4, MAX_LIST_BATCH) : 1;
    if (directory !== undefined) from = afterPrefix(directory);
    else from = files.length < wanted ? undefined : nameAfter(files.at(-1)?.name ?? "");
  }
  return entries;
}

/** Merges two ordered lists. A directory of both is listed once. */
function merge(files: readonly Listed[], folders: readonly Listed[]): Listed[] {
  const all = [...files, ...folders].sort((a, b) => compareNames(a.name, b.name));
  return all.filter(({ name }, i) => name !== all[i - 1]?.name);
}

/** Appends files to the entries up to the first one in a directory; then appends and returns that directory. */
function takeUntilDirectory(
  files: readonly Listed[],
  prefix: string,
  entries: Listed[],
): string | undefined {
  for (const file of files) {
    const directory = directoryOf(file.name, prefix);
    entries.push(directory === undefined ? file : { name: directory });
    if (directory !== undefined) return directory;
  }
  return undefined;
}

/** Returns the name up to and including the first slash after the prefix; `undefined` without one. */
function directoryOf(name: string, prefix: string): string | undefined {
  const slash = name.indexOf("/", prefix.length);
  return slash === -1 ? undefined : name.slice(0, slash + 1);
}

/** Returns the first name that a query may list. */
export function startOf({ prefix, last }: PageQuery): string {
  return last === "" ? prefix : later(prefix, boundaryAfter(last));
}

function startAfterLast({ prefix, last }: ListQuery): string | undefined {
  if (last === "") return prefix;
  const directory = last.startsWith(prefix) ? directoryOf(last, prefix) : undefined;
  if (directory === undefined) return later(prefix, boundaryAfter(last));
  return afterPrefix(directory);
}

/** Returns the name that is listed later. */
export function later(a: string, b: string): string {
  return compareNames(a, b) > 0 ? a : b;
}

/** Returns the range of names with the prefix, from one name on; `undefined` if it is empty, which Deno KV rejects. */
export function filesFrom(query: ListQuery, from: string): KeyRange | undefined {
  const { project, drive, prefix } = query;
  return isEmptyFrom(query, from)
    ? undefined
    : ranges.named(["file", project, drive], prefix, from);
}

/** Returns the same range of the markers of folders. */
export function foldersFrom(query: ListQuery, from: string): KeyRange | undefined {
  const { project, drive, prefix } = query;
  return isEmptyFrom(query, from)
    ? undefined
    : ranges.named(["folder", project, drive], prefix, from);
}

/** Whether no name has the prefix and is `from` or later. */
export function isEmptyFrom({ prefix }: PageQuery, from: string): boolean {
  if (prefix.includes("\0") || byteLength(prefix) > MAX_FILE_NAME) return true;
  const end = afterPrefix(prefix);
  return end !== undefined && compareNames(from, end) >= 0;
}

/** Returns the first entries of a range, fewer than the limit only if there are no more. Expired files are left out. */
async function readEntries(reader: KvReader, range: KeyRange, limit: number): Promise<Listed[]> {
  const entries: Listed[] = [];
  const now = Date.now();
  let { start } = range;
  for (let count = limit;; count = Math.min(count * 4, MAX_LIST_BATCH)) {
    // Equal batches: 1001 entries in batches of 1000 would read 2000.
    const batchSize = Math.ceil(count / Math.ceil(count / MAX_LIST_BATCH));
    const options = { limit: count, batchSize };
    let read = 0;
    for await (const { key, value } of reader.list<FileRecord>({ ...range, start }, options)) {
      const name = String(key.at(-1));
      const record = listedFile(value, now);
      if (record !== undefined) entries.push({ name, record });
      start = [...key.slice(0, -1), nameAfter(name)];
      read++;
    }
    if (entries.length >= limit || read < count) return entries.slice(0, limit);
  }
}

/** Returns a record as lists have it; `undefined` if the file has expired. */
export function listedFile(record: FileRecord, now: number): ListedFile | undefined {
  if (!isPresent(record, now)) return undefined;
  if (record.object === undefined) return record;
  const { object: _, ...listed } = record;
  return listed;
}

function page(entries: Listed[], limit: number): ListPage {
  return { entries: entries.slice(0, limit), more: entries.length > limit };
}

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

export interface ListQuery {
  project: string;
  drive: string;
  /** Maximum number of entries. */
  limit: number;
  prefix: string;
  /** The listing continues after this name. */
  last: string;
}

/** A file, or a directory: its name ends with a slash, and it has no record. */
export interface Listed {
  name: string;
  record?: FileRecord;
}

/** A page of a listing. */
export interface ListPage {
  entries: Listed[];
  /** Whether there is another entry. */
  more: boolean;
}

/** Returns a page of a drive's files in the order of their names' UTF-8 bytes. */
export async function listFiles(reader: KvReader, query: ListQuery): Promise<ListPage> {
  const from = query.last === "" ? query.prefix : later(query.prefix, boundaryAfter(query.last));
  const range = filesFrom(query, from);
  const entries = range === undefined ? [] : await readEntries(reader, range, query.limit + 1);
  return page(entries, query.limit);
}

/**
 * Returns a page of the files and directories directly under the prefix: files with another slash in their names appear
 * once, as their directory. The listing skips to the end of each directory, so it costs as much as its entries and not
 * as much as the files in them.
 */
export async function listDirectory(reader: KvReader, query: ListQuery): Promise<ListPage> {
  const entries: Listed[] = [];
  let from: string | undefined = startAfterLast(query);
  let batch = 1;
  while (from !== undefined && entries.length <= query.limit) {
    const range = filesFrom(query, from);
    if (range === undefined) break;
    const wanted = Math.min(batch, query.limit + 1 - entries.length);
    const files = await readEntries(reader, range, wanted);
    const directory = takeUntilDirectory(files, query.prefix, entries);
    // Consecutive files are read in growing batches; after a directory the batches start small again.
    batch = directory === undefined ? Math.min(batch * 4, MAX_LIST_BATCH) : 1;
    if (directory !== undefined) from = afterPrefix(directory);
    else from = files.length < wanted ? undefined : nameAfter(files.at(-1)?.name ?? "");
  }
  return page(entries, query.limit);
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

function startAfterLast({ prefix, last }: ListQuery): string | undefined {
  if (last === "") return prefix;
  const directory = last.startsWith(prefix) ? directoryOf(last, prefix) : undefined;
  if (directory === undefined) return later(prefix, boundaryAfter(last));
  return afterPrefix(directory);
}

function later(a: string, b: string): string {
  return compareNames(a, b) > 0 ? a : b;
}

/** Returns the range of names with the prefix, from one name on; `undefined` if it is empty, which Deno KV rejects. */
function filesFrom({ project, drive, prefix }: ListQuery, from: string): KeyRange | undefined {
  if (prefix.includes("\0") || byteLength(prefix) > MAX_FILE_NAME) return undefined;
  const end = afterPrefix(prefix);
  if (end !== undefined && compareNames(from, end) >= 0) return undefined;
  return ranges.files(project, drive, prefix, from);
}

async function readEntries(reader: KvReader, range: KeyRange, limit: number): Promise<Listed[]> {
  const entries: Listed[] = [];
  // Equal batches: 1001 entries in batches of 1000 would read 2000.
  const batchSize = Math.ceil(limit / Math.ceil(limit / MAX_LIST_BATCH));
  for await (const { key, value } of reader.list<FileRecord>(range, { limit, batchSize })) {
    entries.push({ name: String(key.at(-1)), record: value });
  }
  return entries;
}

function page(entries: Listed[], limit: number): ListPage {
  return { entries: entries.slice(0, limit), more: entries.length > limit };
}

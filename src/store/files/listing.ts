import {
  afterPrefix,
  boundaryAfter,
  byteLength,
  compareNames,
  MAX_FILE_NAME,
  nameAfter,
} from "../../rules/names.ts";
import { type KeyRange, ranges } from "../engine/keys.ts";
import { MAX_LIST_BATCH } from "../engine/read_queue.ts";
import type { FileRecord } from "../engine/records.ts";

export interface ListQuery {
  project: string;
  drive: string;
  /** At the most so many entries. */
  limit: number;
  prefix: string;
  /** The listing goes on behind this name. */
  last: string;
}

/** A file, or a directory, whose name ends with a slash and which has no record. */
export interface Listed {
  name: string;
  record?: FileRecord;
}

/** A page of a listing. */
export interface ListPage {
  entries: Listed[];
  /** Whether there is at least one more entry. */
  more: boolean;
}

/** The files of a drive in the order of their names' UTF-8 bytes. */
export async function listFiles(kv: Deno.Kv, query: ListQuery): Promise<ListPage> {
  const from = query.last === "" ? query.prefix : later(query.prefix, boundaryAfter(query.last));
  const range = filesFrom(query, from);
  const entries = range === undefined ? [] : await readEntries(kv, range, query.limit + 1);
  return page(entries, query.limit);
}

/**
 * The same up to the first slash behind the prefix: deeper files show once, as their directory. A directory is skipped
 * by going on behind it, so the cost is that of the entries given, not of the files below them.
 */
export async function listDirectory(kv: Deno.Kv, query: ListQuery): Promise<ListPage> {
  const entries: Listed[] = [];
  let from: string | undefined = startBehind(query);
  let batch = 1;
  while (from !== undefined && entries.length <= query.limit) {
    const range = filesFrom(query, from);
    if (range === undefined) break;
    const wanted = Math.min(batch, query.limit + 1 - entries.length);
    const files = await readEntries(kv, range, wanted);
    const directory = takeUpToDirectory(files, query.prefix, entries);
    // Where files follow each other they are read in growing batches; behind a directory that starts over.
    batch = directory === undefined ? Math.min(batch * 4, MAX_LIST_BATCH) : 1;
    if (directory !== undefined) from = afterPrefix(directory);
    else from = files.length < wanted ? undefined : nameAfter(files.at(-1)?.name ?? "");
  }
  return page(entries, query.limit);
}

/** Moves files to the entries until one lies in a directory; then adds and gives that directory. */
function takeUpToDirectory(
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

/** The name up to and with the first slash behind the prefix. */
function directoryOf(name: string, prefix: string): string | undefined {
  const slash = name.indexOf("/", prefix.length);
  return slash === -1 ? undefined : name.slice(0, slash + 1);
}

function startBehind({ prefix, last }: ListQuery): string | undefined {
  if (last === "") return prefix;
  const directory = last.startsWith(prefix) ? directoryOf(last, prefix) : undefined;
  if (directory === undefined) return later(prefix, boundaryAfter(last));
  return afterPrefix(directory);
}

function later(a: string, b: string): string {
  return compareNames(a, b) > 0 ? a : b;
}

/** The names with the prefix from one on; `undefined` where there can be none: Deno KV takes such a range for an error. */
function filesFrom({ project, drive, prefix }: ListQuery, from: string): KeyRange | undefined {
  if (prefix.includes("\0") || byteLength(prefix) > MAX_FILE_NAME) return undefined;
  const end = afterPrefix(prefix);
  if (end !== undefined && compareNames(from, end) >= 0) return undefined;
  return ranges.files(project, drive, prefix, from);
}

async function readEntries(kv: Deno.Kv, range: KeyRange, limit: number): Promise<Listed[]> {
  const entries: Listed[] = [];
  // Equal batches: one of 1000 and one for the last entry would read 2000.
  const batchSize = Math.ceil(limit / Math.ceil(limit / MAX_LIST_BATCH));
  for await (const { key, value } of kv.list<FileRecord>(range, { limit, batchSize })) {
    entries.push({ name: String(key.at(-1)), record: value });
  }
  return entries;
}

function page(entries: Listed[], limit: number): ListPage {
  return { entries: entries.slice(0, limit), more: entries.length > limit };
}

/**
 * Listings of a drive: files and markers of folders in the order of their names' UTF-8 bytes, grouped by common prefixes
 * up to a delimiter. S3 clients see both kinds as objects; the drive API sees files, and markers as directories.
 *
 * @module
 */
import {
  afterPrefix,
  boundaryAfter,
  byteLength,
  compareNames,
  MAX_FILE_NAME,
  nameAfter,
} from "../../rules/names.ts";
import { type KeyRange, ranges } from "../engine/keys.ts";
import type { FileRecord, FolderRecord, Place } from "../engine/records.ts";
import { isPresent } from "../files/file_record.ts";
import { hasAny, type KvReader, MAX_LIST_BATCH } from "../reads/read_queue.ts";

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

export interface ListPage {
  entries: Listed[];
  /** Whether there is another entry, or another name to look at. */
  more: boolean;
  /** The name after which the next page continues, if it is not that of the last entry. */
  last?: string;
}

export interface ObjectQuery {
  project: string;
  drive: string;
  prefix: string;
  /** A longer prefix, if only names with this one are listed. Entries are grouped as without it. */
  within?: string;
  /** Entries are grouped up to its first occurrence after the prefix; `undefined` or empty for no groups. */
  delimiter?: string | undefined;
  /** The page begins after this name, or after everything below this common prefix; empty for the first page. */
  after: string;
  /** Maximum number of entries. */
  limit: number;
}

/** A file, the marker of a folder, or the common prefix of several. */
export type ObjectEntry =
  | { name: string; record: ListedFile; folder?: never; commonPrefix?: never }
  | { name: string; folder: FolderRecord; record?: never; commonPrefix?: never }
  | { commonPrefix: string; name?: never; record?: never; folder?: never };

/** A page of objects in the order of their UTF-8 bytes. */
export interface ObjectPage {
  entries: ObjectEntry[];
  /** Whether there is another entry. */
  more: boolean;
}

export async function listFiles(reader: KvReader, query: ListQuery): Promise<ListPage> {
  const { entries, more } = await listObjects(reader, { ...query, after: query.last }, ["file"]);
  return { entries: entries.map(listed), more };
}

export async function listMarkers(reader: KvReader, query: ListQuery): Promise<ListPage> {
  const { entries, more } = await listObjects(reader, { ...query, after: query.last }, ["folder"]);
  return { entries: entries.map(listed), more };
}

/**
 * Returns a page of the files and directories directly under the prefix: files with another slash in their names appear
 * once, as their directory, and so do markers of folders.
 */
export async function listDirectory(reader: KvReader, query: ListQuery): Promise<ListPage> {
  const { last, limit, ...within } = query;
  const objects = { ...within, delimiter: "/", limit: limit + 1 };
  const after = commonPrefixOf(last, objects) ?? last;
  const page = await listObjects(reader, { ...objects, after });
  // The only marker that is in no directory is that of the prefix itself, which is not in it.
  const entries = page.entries.filter(({ folder }) => folder === undefined).map(listed);
  return { entries: entries.slice(0, limit), more: page.more || entries.length > limit };
}

function listed({ name, commonPrefix, record }: ObjectEntry): Listed {
  return record === undefined ? { name: name ?? commonPrefix } : { name, record };
}

/** The kinds of entries with names. */
type Kind = "file" | "folder";

/**
 * Returns a page of objects. It costs as much as its entries, however many names have a common prefix.
 *
 * @param kinds What is listed.
 */
export async function listObjects(
  reader: KvReader,
  query: ObjectQuery,
  kinds: readonly Kind[] = ["file", "folder"],
): Promise<ObjectPage> {
  const { project, drive, prefix, within = prefix, limit } = query;
  const firstBatch = query.delimiter ? 1 : limit + 1;
  const cursorOf = <S, T>(kind: Kind, toListed: (stored: S) => T | undefined) => {
    const from = kinds.includes(kind) ? startOfPage(query) : undefined;
    const level = { project, drive, prefix: within };
    const source = { reader, toListed, rangeFrom: (from: string) => rangeFrom(kind, level, from) };
    return new Cursor(source, from, firstBatch);
  };
  const files = cursorOf("file", (record: FileRecord) => listedFile(record, Date.now()));
  const folders = cursorOf("folder", (folder: FolderRecord) => folder);
  const entries: ObjectEntry[] = [];
  while (entries.length <= limit) {
    const wanted = limit + 1 - entries.length;
    if (files.isEmpty || folders.isEmpty) {
      await Promise.all([files.fill(wanted), folders.fill(wanted)]);
    }
    const [file, folder] = [files.first, folders.first];
    const isFile = file !== undefined &&
      (folder === undefined || compareNames(file.name, folder.name) < 0);
    const name = isFile ? file.name : folder?.name;
    if (name === undefined) break;
    const commonPrefix = commonPrefixOf(name, query);
    if (commonPrefix !== undefined) {
      entries.push({ commonPrefix });
      const next = afterPrefix(commonPrefix);
      files.skipTo(next);
      folders.skipTo(next);
    } else if (isFile) {
      entries.push({ name, record: file.value });
      files.shift();
    } else if (folder !== undefined) {
      entries.push({ name, folder: folder.value });
      folders.shift();
    }
  }
  return { entries: entries.slice(0, limit), more: entries.length > limit };
}

/** Returns the ranges in which an entry has to be for a folder to exist. */
export function rangesBelow({ project, drive, name: prefix }: Place): KeyRange[] {
  const level = { project, drive, prefix };
  return (["file", "folder"] as const)
    .flatMap((kind) => rangeFrom(kind, level, prefix) ?? []);
}

/** Returns whether there is the marker of a folder, or a file below it. */
export async function folderExists(
  reader: KvReader,
  { project, drive, name: prefix }: Place,
): Promise<boolean> {
  // What is found may have expired.
  if (!await hasAny(reader, rangesBelow({ project, drive, name: prefix }))) return false;
  return (await listObjects(reader, { project, drive, prefix, after: "", limit: 0 })).more;
}

/** Returns the name up to and including the first delimiter after the prefix; `undefined` without one. */
function commonPrefixOf(
  name: string,
  { prefix, delimiter = "" }: Pick<ObjectQuery, "prefix" | "delimiter">,
): string | undefined {
  if (delimiter === "" || !name.startsWith(prefix)) return undefined;
  const at = name.indexOf(delimiter, prefix.length);
  return at === -1 ? undefined : name.slice(0, at + delimiter.length);
}

/** Returns the first name that a page may have; `undefined` if there is none. */
function startOfPage(query: ObjectQuery): string | undefined {
  const { prefix, within = prefix, after } = query;
  if (after === "") return within;
  // A longer text does not fit into a key, and no name begins with it.
  const isPrefix = commonPrefixOf(after, query) === after && byteLength(after) <= MAX_FILE_NAME;
  const from = isPrefix ? afterPrefix(after) : boundaryAfter(after);
  return from === undefined ? undefined : later(within, from);
}

/** Returns the first name that a query may list. */
export function startOf({ prefix, last }: PageQuery): string {
  return last === "" ? prefix : later(prefix, boundaryAfter(last));
}

/** Returns the name that is listed later. */
function later(a: string, b: string): string {
  return compareNames(a, b) > 0 ? a : b;
}

/** Returns the range of names with the prefix, from one name on; `undefined` if it is empty, which Deno KV rejects. */
export function rangeFrom(
  kind: Kind,
  { project, drive, prefix }: Pick<ListQuery, "project" | "drive" | "prefix">,
  from: string,
): KeyRange | undefined {
  if (isEmptyFrom(prefix, from)) return undefined;
  return ranges.named([kind, project, drive], prefix, from);
}

/** Whether no name has the prefix and is `from` or later. */
export function isEmptyFrom(prefix: string, from: string): boolean {
  if (prefix.includes("\0") || byteLength(prefix) > MAX_FILE_NAME) return true;
  const end = afterPrefix(prefix);
  return end !== undefined && compareNames(from, end) >= 0;
}

/** Returns a record as lists have it; `undefined` if the file has expired. */
export function listedFile(record: FileRecord, now: number): ListedFile | undefined {
  if (!isPresent(record, now)) return undefined;
  if (record.object === undefined) return record;
  const { object: _, ...listed } = record;
  return listed;
}

/** An entry that was read, with its name. */
interface Found<T> {
  name: string;
  value: T;
}

/** Reads the entries of one kind in their order, in batches that grow while none of their entries is skipped. */
class Cursor<S, T> {
  #found: Found<T>[] = [];
  #index = 0;

  /**
   * @param source.toListed Returns an entry in the form of the list; `undefined` if it is not listed.
   * @param from Where the next batch begins; `undefined` after the last one.
   */
  constructor(
    private readonly source: {
      reader: KvReader;
      rangeFrom: (from: string) => KeyRange | undefined;
      toListed: (stored: S) => T | undefined;
    },
    private from: string | undefined,
    private batch: number,
  ) {}

  get first(): Found<T> | undefined {
    return this.#found[this.#index];
  }

  /** Whether a batch must be read. */
  get isEmpty(): boolean {
    return this.first === undefined && this.from !== undefined;
  }

  shift(): void {
    this.#index++;
  }

  /** Drops entries before a name; all of them if it is `undefined`. */
  skipTo(name: string | undefined): void {
    if (name === undefined) this.from = undefined;
    while (this.first !== undefined && (name === undefined || isBefore(this.first.name, name))) {
      this.#index++;
    }
    if (name === undefined || this.first !== undefined || this.from === undefined) return;
    if (!isBefore(this.from, name)) return;
    // Start with small batches: more entries may be skipped.
    this.from = name;
    this.batch = 1;
  }

  /**
   * Reads the next entries if there are none left of the last batch.
   *
   * @param wanted The most entries to read, unless all of them have expired.
   */
  async fill(wanted: number): Promise<void> {
    for (let most = wanted; this.isEmpty; most = MAX_LIST_BATCH) {
      const limit = Math.min(this.batch, most);
      const range = this.source.rangeFrom(this.from ?? "");
      const last = range === undefined ? undefined : await this.#read(range, limit);
      this.from = last === undefined ? undefined : nameAfter(last);
      this.batch = Math.min(this.batch * 4, MAX_LIST_BATCH);
    }
  }

  /** Reads a batch. Returns its last name, unless there are no more. */
  async #read(range: KeyRange, limit: number): Promise<string | undefined> {
    // Equal batches: 1001 entries in batches of 1000 would read 2000.
    const batchSize = Math.ceil(limit / Math.ceil(limit / MAX_LIST_BATCH));
    this.#found = [];
    this.#index = 0;
    let count = 0;
    let name = "";
    for await (const entry of this.source.reader.list<S>(range, { limit, batchSize })) {
      count++;
      name = String(entry.key.at(-1));
      const value = this.source.toListed(entry.value);
      if (value !== undefined) this.#found.push({ name, value });
    }
    return count < limit ? undefined : name;
  }
}

function isBefore(a: string, b: string): boolean {
  return compareNames(a, b) < 0;
}

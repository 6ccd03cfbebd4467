/**
 * The listing of a drive as S3 clients see it: files and markers of folders in one order, grouped by
 * common prefixes up to any delimiter.
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
import type { KeyRange } from "../engine/keys.ts";
import type { FileRecord, FolderRecord } from "../engine/records.ts";
import { type KvReader, MAX_LIST_BATCH } from "../reads/read_queue.ts";
import {
  filesFrom,
  foldersFrom,
  later,
  type ListedFile,
  listedFile,
  type ListQuery,
} from "./listing.ts";

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

/** Returns a page of objects. It costs as much as its entries, however many names have a common prefix. */
export async function listObjects(reader: KvReader, query: ObjectQuery): Promise<ObjectPage> {
  const { project, drive, prefix, within = prefix, limit } = query;
  const level: ListQuery = { project, drive, prefix: within, limit, last: "" };
  const start = startOf(query);
  const firstBatch = query.delimiter ? 1 : limit + 1;
  const toListed = (record: FileRecord) => listedFile(record, Date.now());
  const files = new Cursor(reader, (from) => filesFrom(level, from), {
    ...{ start, firstBatch, toListed },
  });
  const folders = new Cursor(reader, (from) => foldersFrom(level, from), {
    ...{ start, firstBatch, toListed: (folder: FolderRecord) => folder },
  });
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
function startOf(query: ObjectQuery): string | undefined {
  const { prefix, within = prefix, after } = query;
  if (after === "") return within;
  // A longer text does not fit into a key, and no name begins with it.
  const isPrefix = commonPrefixOf(after, query) === after && byteLength(after) <= MAX_FILE_NAME;
  const from = isPrefix ? afterPrefix(after) : boundaryAfter(after);
  return from === undefined ? undefined : later(within, from);
}

/** An entry that was read, with its name. */
interface Found<T> {
  name: string;
  value: T;
}

/** Reads the entries of one kind in their order, in batches that grow while none of their entries is skipped. */
class Cursor<S, T> {
  readonly #toListed: (stored: S) => T | undefined;
  /** Where the next batch begins; `undefined` after the last one. */
  #from: string | undefined;
  #batch: number;
  #found: Found<T>[] = [];
  #index = 0;

  constructor(
    private readonly reader: KvReader,
    private readonly rangeFrom: (from: string) => KeyRange | undefined,
    { start, firstBatch, toListed }: {
      start: string | undefined;
      firstBatch: number;
      /** Returns an entry in the form of the list; `undefined` if it is not listed. */
      toListed: (stored: S) => T | undefined;
    },
  ) {
    this.#toListed = toListed;
    this.#from = start;
    this.#batch = firstBatch;
  }

  get first(): Found<T> | undefined {
    return this.#found[this.#index];
  }

  /** Whether a batch must be read. */
  get isEmpty(): boolean {
    return this.first === undefined && this.#from !== undefined;
  }

  shift(): void {
    this.#index++;
  }

  /** Drops entries before a name; all of them if it is `undefined`. */
  skipTo(name: string | undefined): void {
    if (name === undefined) this.#from = undefined;
    while (this.first !== undefined && (name === undefined || isBefore(this.first.name, name))) {
      this.#index++;
    }
    if (name === undefined || this.first !== undefined || this.#from === undefined) return;
    if (!isBefore(this.#from, name)) return;
    // Start with small batches: more entries may be skipped.
    this.#from = name;
    this.#batch = 1;
  }

  /** Reads the next entries if there are none left of the last batch. @param wanted The most entries to read. */
  async fill(wanted: number): Promise<void> {
    while (this.isEmpty) {
      const limit = Math.min(this.#batch, wanted);
      const range = this.rangeFrom(this.#from ?? "");
      const found = range === undefined ? [] : await this.#read(range, limit);
      const last = found.at(-1);
      this.#from = last === undefined || found.length < limit ? undefined : nameAfter(last.name);
      this.#batch = Math.min(this.#batch * 4, MAX_LIST_BATCH);
      this.#found = found.flatMap(({ name, value }) =>
        value === undefined ? [] : [{ name, value }]
      );
      this.#index = 0;
    }
  }

  async #read(range: KeyRange, limit: number): Promise<Found<T | undefined>[]> {
    // Equal batches: 1001 entries in batches of 1000 would read 2000.
    const batchSize = Math.ceil(limit / Math.ceil(limit / MAX_LIST_BATCH));
    const entries = this.reader.list<S>(range, { limit, batchSize });
    return await Array.fromAsync(
      entries,
      ({ key, value }) => ({ name: String(key.at(-1)), value: this.#toListed(value) }),
    );
  }
}

function isBefore(a: string, b: string): boolean {
  return compareNames(a, b) < 0;
}

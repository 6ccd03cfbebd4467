/**
 * The rows of a store's file, as SQLite reads them, and the entries in them.
 *
 * @module
 */
import { DatabaseSync } from "node:sqlite";
import {
  afterKey,
  decodeKey,
  decodeValue,
  encodeKey,
  KV_COLUMNS,
  type KvRow,
  prefixRange,
  versionstampOf,
} from "./kv_encoding.ts";
import type { ListOptions } from "./read_queue.ts";
import type { UnreadableEntries } from "./record_codec.ts";

/** Bytes of the file that SQLite maps into memory, its maximum. SQLite reads the rest of the file with system calls. */
const MAPPED_BYTES = 0x7fff0000;

/** Size of the cache for pages that are not mapped, in KiB: the inner pages of the tree of a million files. */
const PAGE_CACHE_KIB = 32_768;

/** Reads the row of a key. */
export const SELECT_ROW = `SELECT ${KV_COLUMNS} FROM kv WHERE k = ?`;

const SELECT_RANGE = `SELECT ${KV_COLUMNS} FROM kv WHERE k >= ? AND k < ? ORDER BY k`;

/** Read the first and the last rows of a range, as many as the third value says. */
export const SELECT_FIRST = `${SELECT_RANGE} LIMIT ?`;
export const SELECT_LAST = `${SELECT_RANGE} DESC LIMIT ?`;

type Bytes = Uint8Array<ArrayBuffer>;

/** The rows of a range that are read together. */
export interface RowRange {
  from: Bytes;
  to: Bytes;
  count: number;
  reverse: boolean;
}

/** Opens a connection that only reads. A mapped file is read without system calls. */
export function openForReading(path: string, isMapped: boolean): DatabaseSync {
  const sqlite = new DatabaseSync(path, { readOnly: true });
  const mapped = isMapped ? MAPPED_BYTES : 0;
  sqlite.exec(`PRAGMA mmap_size = ${mapped}; PRAGMA cache_size = -${PAGE_CACHE_KIB}`);
  return sqlite;
}

/** Returns the entry of a key, whose value is `null` if it cannot be read. */
export function entryOf<T>(
  key: Deno.KvKey,
  row: Omit<KvRow, "k"> | undefined,
  unreadable: UnreadableEntries,
): Deno.KvEntryMaybe<T> {
  if (row === undefined) return { key, value: null, versionstamp: null };
  const versionstamp = versionstampOf(row.version);
  try {
    return { key, value: decodeValue(key, row) as T, versionstamp };
  } catch (error) {
    // SQLite has no checksums: a bit of the file may have changed.
    unreadable.note(key, versionstamp, error);
    return { key, value: null as T, versionstamp };
  }
}

/** Lists entries in batches, each of them read at one moment. */
export async function* listEntries<T>(
  read: (range: RowRange) => Promise<KvRow[]>,
  unreadableEntries: UnreadableEntries,
  selector: Deno.KvListSelector,
  { limit = Infinity, batchSize = 100, reverse = false, unreadable = false }: ListOptions = {},
): AsyncGenerator<Deno.KvEntry<T>> {
  let [from, to] = rangeOf(selector);
  for (let left = limit; left > 0;) {
    const count = Math.min(batchSize, left);
    const rows = await read({ from, to, count, reverse });
    for (const row of rows) {
      const entry = entryOf<T>(keyOf(row), row, unreadableEntries) as Deno.KvEntry<T>;
      if (entry.value === null && !unreadable) continue;
      yield entry;
      left--;
    }
    const last = rows.at(-1);
    if (last === undefined || rows.length < count) return;
    if (reverse) to = last.k;
    else from = afterKey(last.k);
  }
}

function keyOf({ k }: KvRow): Deno.KvKey {
  const key = decodeKey(k);
  if (key === undefined) throw new TypeError("The store has a key of an unknown form");
  return key;
}

/** Returns the first key of a selector, and the first one after it. A prefix does not select itself. */
function rangeOf(selector: Deno.KvListSelector): [from: Bytes, to: Bytes] {
  if (!("prefix" in selector)) return [encodeKey(selector.start), encodeKey(selector.end)];
  const [first, end] = prefixRange(selector.prefix);
  return [
    "start" in selector ? encodeKey(selector.start) : afterKey(first),
    "end" in selector ? encodeKey(selector.end) : end,
  ];
}

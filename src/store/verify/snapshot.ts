import { DatabaseSync, type StatementSync } from "node:sqlite";
import { dirname } from "@std/path/dirname";
import { equals } from "@std/bytes/equals";
import { Buffer } from "node:buffer";
import { FolderLock } from "../disk/file_lock.ts";
import { LOCKED_RETRY_TIME, withSqlite } from "../disk/sqlite.ts";
import { byteFilePath, requireByteFile } from "../disk/store_files.ts";
import { checkpointAfterRead } from "../disk/write_ahead_log.ts";
import { FORMAT, formatIn } from "../engine/format.ts";
import { identityOf, keys } from "../engine/keys.ts";
import { BYTE_KINDS, isByteKind, isCounterKind } from "../engine/records/kinds.ts";
import {
  afterKey,
  decodeKey,
  decodeValue,
  encodeKey,
  KV_COLUMNS,
  type KvRow,
  prefixRange,
  versionstampOf,
} from "../reads/kv_encoding.ts";
import { heapLimiter } from "./heap_limiter.ts";

export interface SnapshotEntry<T = unknown> {
  key: (string | number)[];
  value: T;
  versionstamp: string;
}

/** An entry whose value cannot be decoded. */
export interface UnreadableEntry {
  key: (string | number)[];
  reason: string;
}

/** Entries that one query reads: records, and chunks of up to 64 KiB. */
const RECORDS = 500;
const CHUNKS = 16;

const NO_LOCK: Disposable = { [Symbol.dispose]: () => {} };

type Bytes = Uint8Array<ArrayBuffer>;

/** One file of a store, with an open read transaction. */
interface SnapshotFile {
  path: string;
  sqlite: DatabaseSync;
  entry: StatementSync;
  entries: StatementSync;
  keys: StatementSync;
}

/**
 * All entries of a store at one moment, read directly from its SQLite files, while others write. Memory is bounded.
 * Until the snapshot is disposed of, the store's logs grow by everything that is written.
 */
export class Snapshot implements Disposable {
  /**
   * Entries that were found and whose values cannot be decoded. No read returns them, except counters, which have no
   * value: the checks of what they count correct them.
   */
  readonly unreadable = new Map<string, UnreadableEntry>();
  readonly #limitHeap = heapLimiter();

  private constructor(
    readonly records: SnapshotFile,
    /** The file of the chunks; the same file in a store that has one. */
    readonly bytes: SnapshotFile,
    /** The files with chunks: both, if the separation of a store in one file was interrupted. */
    private readonly byteFiles: readonly SnapshotFile[],
    private readonly lock: Disposable,
  ) {}

  /**
   * Takes a snapshot of a store; throws what SQLite throws if its file is none.
   *
   * @param path The file of the records.
   * @param isPrivate Whether no other process knows the file, so that its folder need not be locked.
   */
  static async take(path: string, isPrivate = false): Promise<Snapshot> {
    try {
      return await Snapshot.#take(path, isPrivate);
    } catch (error) {
      // A page that could not be read once may be readable.
      if (!(error instanceof Error && error.message.includes("disk I/O error"))) throw error;
      return await Snapshot.#take(path, isPrivate);
    }
  }

  static async #take(path: string, isPrivate: boolean): Promise<Snapshot> {
    const lock = isPrivate ? NO_LOCK : await FolderLock.take(dirname(path), "shared");
    if (lock === undefined) throw new Error("a backup is being restored there");
    using opened = new DisposableStack();
    opened.use(lock);
    const open = (file: string) => opened.adopt(new DatabaseSync(file), (each) => each.close());
    const records = open(path);
    const bytePath = byteFileOf(path, records);
    const bytes = bytePath === undefined ? records : open(bytePath);
    if (bytePath === undefined) begin(records);
    else beginBoth(records, bytes, bytePath);
    const recordFile = fileOf(path, records);
    const byteFile = bytePath === undefined ? recordFile : fileOf(bytePath, bytes);
    const byteFiles = bytePath !== undefined && hasBytes(recordFile)
      ? [byteFile, recordFile]
      : [byteFile];
    opened.move();
    return new Snapshot(recordFile, byteFile, byteFiles, lock);
  }

  get files(): readonly SnapshotFile[] {
    return this.bytes === this.records ? [this.records] : [this.records, this.bytes];
  }

  /** Returns the files that have the entries of a kind, or all of them if none is given. */
  #filesOf([kind]: Deno.KvKey): readonly SnapshotFile[] {
    if (kind === undefined) return this.files;
    return isByteKind(kind) ? this.byteFiles : [this.records];
  }

  /**
   * Returns what SQLite finds wrong with the structure of its file, in its words, at most 20 findings. A page that
   * could not be read once counts as damaged, so SQLite checks twice.
   */
  damage(): string[] {
    return this.#check().length === 0 ? [] : this.#check();
  }

  #check(): string[] {
    return this.files.flatMap(({ sqlite }) => {
      const rows = sqlite.prepare("PRAGMA integrity_check(20)").all();
      return rows.map((row) => String(row["integrity_check"])).filter((text) => text !== "ok");
    });
  }

  /** Returns an entry, or `undefined` if there is none. */
  get<T>(key: Deno.KvKey): SnapshotEntry<T> | undefined {
    for (const { entry } of this.#filesOf(key)) {
      const row = entry.get(encodeKey(key)) as KvRow | undefined;
      if (row !== undefined) return this.#entryOf(row, [...key] as (string | number)[]);
    }
    return undefined;
  }

  /** Returns whether there is an entry. Its value is not read. */
  has(key: Deno.KvKey): boolean {
    const bytes = encodeKey(key);
    return this.#filesOf(key).some(({ keys }) => keys.get(bytes, afterKey(bytes), 1) !== undefined);
  }

  /** Yields the entries below a prefix in the order of their keys. */
  *list<T>(prefix: Deno.KvKey): Generator<SnapshotEntry<T>> {
    const statements = this.#filesOf(prefix).map(({ entries }) => entries);
    for (const row of rowsOf(statements, prefixRange(prefix), RECORDS) as Iterable<KvRow>) {
      const key = decodeKey(row.k);
      const entry = key === undefined ? undefined : this.#entryOf<T>(row, key);
      if (entry !== undefined) yield entry;
    }
  }

  /** Yields the keys below a prefix in their order. No value is read. */
  *keys(prefix: Deno.KvKey): Generator<(string | number)[]> {
    const statements = this.#filesOf(prefix).map(({ keys }) => keys);
    for (const { k } of rowsOf(statements, prefixRange(prefix), RECORDS)) {
      this.#limitHeap();
      const key = decodeKey(k);
      if (key !== undefined) yield key;
    }
  }

  /** Yields the index of each chunk below a prefix, which is the last part of its key, and its bytes. */
  *chunks(prefix: Deno.KvKey): Generator<[index: number, bytes: Bytes]> {
    const statements = this.#filesOf(prefix).map(({ entries }) => entries);
    for (const { k, v } of rowsOf(statements, prefixRange(prefix), CHUNKS) as Iterable<KvRow>) {
      this.#limitHeap();
      yield [Number(decodeKey(k)?.at(-1)), v];
    }
  }

  /**
   * Yields the first `length` parts of the keys below a prefix, each combination once. The keys in between are skipped.
   */
  *heads(prefix: Deno.KvKey, length: number): Generator<(string | number)[]> {
    const statements = this.#filesOf(prefix).map(({ keys }) => keys);
    yield* headsOf(statements, prefixRange(prefix), length);
  }

  #entryOf<T>(row: KvRow, key: (string | number)[]): SnapshotEntry<T> | undefined {
    this.#limitHeap();
    try {
      const value = decodeValue(key, row) as T;
      return { key, value, versionstamp: versionstampOf(row.version) };
    } catch (error) {
      if (isCounterKind(key[0])) {
        return { key, value: undefined as T, versionstamp: versionstampOf(row.version) };
      }
      const reason = error instanceof Error ? error.message : String(error);
      this.unreadable.set(identityOf(key), { key, reason });
      return undefined;
    }
  }

  [Symbol.dispose](): void {
    for (const { path, sqlite } of this.files) {
      try {
        checkpointAfterRead(path, sqlite);
      } catch {
        // The log of a damaged store cannot be checkpointed. The damage is reported elsewhere.
      }
      sqlite.close();
    }
    this.lock[Symbol.dispose]();
  }
}

/** Returns the path of the file with the chunks; `undefined` if they are among the records. @throws if it is missing. */
function byteFileOf(path: string, records: DatabaseSync): string | undefined {
  records.exec(`PRAGMA busy_timeout = ${LOCKED_RETRY_TIME}`);
  const found = namedByteFile(path, records);
  if (found === undefined) return undefined;
  requireByteFile(found);
  return found;
}

/** Returns whether the records' file has chunks or checksums. */
function hasBytes({ keys }: SnapshotFile): boolean {
  return BYTE_KINDS.some((kind) => keys.get(...prefixRange([kind]), 1) !== undefined);
}

/**
 * Returns the path of the file with the chunks that the records of a store name; `undefined` if they name none, or if a
 * newer version made them, which every reader refuses.
 *
 * @param path Where the records are used.
 */
export function namedByteFile(path: string, records: DatabaseSync): string | undefined {
  const find = records.prepare(`SELECT ${KV_COLUMNS} FROM kv WHERE k = ?`);
  const get = (key: Deno.KvKey) => {
    const row = find.get(encodeKey(key)) as KvRow | undefined;
    return row && decodeValue([...key] as string[], row);
  };
  const name = get(keys.byteFile());
  if (name === undefined || formatIn(get(keys.format()) as Deno.KvU64 | undefined) > FORMAT) {
    return undefined;
  }
  return byteFilePath(path, name);
}

/** Returns the files of a store. @param path That of the records. */
export function storeFiles(path: string): string[] {
  return withSqlite(path, (records) => {
    const bytes = byteFileOf(path, records);
    return bytes === undefined ? [path] : [path, bytes];
  });
}

/**
 * Begins a read transaction in both files at one moment. The write lock of the file of the chunks holds back who deletes
 * them in between, and the records of that moment name only chunks that were committed before.
 */
function beginBoth(records: DatabaseSync, bytes: DatabaseSync, bytePath: string): void {
  withSqlite(bytePath, (writer) => {
    writer.exec(`PRAGMA busy_timeout = ${LOCKED_RETRY_TIME}; BEGIN IMMEDIATE`);
    begin(records);
    begin(bytes);
    writer.exec("ROLLBACK");
  });
}

function begin(sqlite: DatabaseSync): void {
  // The cache of the system serves reads that are repeated.
  sqlite.exec(
    `PRAGMA busy_timeout = ${LOCKED_RETRY_TIME}; PRAGMA query_only = ON; PRAGMA cache_size = -256; BEGIN`,
  );
  // The first statement that reads fixes the moment.
  sqlite.prepare("SELECT count(*) FROM sqlite_master").get();
}

function fileOf(path: string, sqlite: DatabaseSync): SnapshotFile {
  const range = "FROM kv WHERE k >= ? AND k < ? ORDER BY k LIMIT ?";
  return {
    path,
    sqlite,
    entry: sqlite.prepare(`SELECT ${KV_COLUMNS} FROM kv WHERE k = ?`),
    entries: sqlite.prepare(`SELECT ${KV_COLUMNS} ${range}`),
    keys: sqlite.prepare(`SELECT k ${range}`),
  };
}

function* headsOf(
  statements: readonly StatementSync[],
  [start, end]: [Bytes, Bytes],
  length: number,
): Generator<(string | number)[]> {
  let from = start;
  while (true) {
    const [row] = pageOf(statements, [from, end], 1);
    if (row === undefined) return;
    const key = decodeKey(row.k);
    if (key === undefined || key.length < length) {
      from = afterKey(row.k);
      continue;
    }
    const head = key.slice(0, length);
    yield head;
    [, from] = prefixRange(head);
  }
}

/**
 * Yields the rows of a range, `limit` of them a query. The iterators of `node:sqlite` end without a word where a page cannot
 * be read; `all` throws.
 */
export function* rowsOf(
  statements: readonly StatementSync[],
  [start, end]: readonly [start: Bytes, end: Bytes],
  limit: number,
): Generator<{ k: Bytes }> {
  let from = start;
  while (true) {
    const rows = pageOf(statements, [from, end], limit);
    yield* rows;
    const last = rows.at(-1);
    if (last === undefined || rows.length < limit) return;
    from = afterKey(last.k);
  }
}

/** Returns the first rows of a range: those of several files in one order, and each key once. */
function pageOf(
  statements: readonly StatementSync[],
  [from, end]: [Bytes, Bytes],
  limit: number,
): { k: Bytes }[] {
  const pages = statements.map((each) => each.all(from, end, limit) as unknown as { k: Bytes }[]);
  const [page = []] = pages;
  if (pages.length === 1) return page;
  const rows = pages.flat().sort((one, other) => Buffer.compare(one.k, other.k));
  const isFirst = ({ k }: { k: Bytes }, i: number) =>
    !equals(k, rows[i - 1]?.k ?? new Uint8Array());
  return rows.filter(isFirst).slice(0, limit);
}

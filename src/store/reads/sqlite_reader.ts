/**
 * Reads entries of a store's file directly with SQLite, because Deno KV passes every read to a thread and back. Writes
 * stay with Deno KV.
 *
 * @module
 */
import { delay } from "@std/async/delay";
import { DatabaseSync, type StatementSync } from "node:sqlite";
import { isLocked, LOCKED_RETRY_TIME } from "../disk/sqlite.ts";
import {
  afterKey,
  decodeKey,
  decodeText,
  decodeValue,
  encodeKey,
  KV_COLUMNS,
  type KvRow,
  prefixRange,
  versionstampOf,
} from "./kv_encoding.ts";
import {
  hasAny,
  type KvReader,
  type ListOptions,
  MAX_GET_MANY,
  type NameRange,
  readNames,
  ReadQueue,
  type Referenced,
  type ReferenceOf,
} from "./read_queue.ts";
import { BlockedTime, Turn } from "./turn.ts";
import type { UnreadableEntries } from "./record_codec.ts";

/** The version of Deno KV's tables that this module knows, as Deno KV numbers its migrations. */
const KNOWN_SCHEMA = 3;

/** Bytes of the file that SQLite maps into memory, its maximum. SQLite reads the rest of the file with system calls. */
const MAPPED_BYTES = 0x7fff0000;

/** Size of the cache for pages that are not mapped, in KiB: the inner pages of the tree of a million files. */
const PAGE_CACHE_KIB = 32_768;

/** The pause between two attempts to read a locked file, in milliseconds. */
const LOCKED_PAUSE = 5;

/** A value of several that one statement reads. */
type IndexedRow = Omit<KvRow, "k"> & { i: number };

/** The names of a batch, and how many they are. */
interface NamesRow {
  names: Uint8Array | null;
  count: number;
}

/** Opens a connection that only reads. A mapped file is read without system calls. */
function openForReading(path: string, isMapped: boolean): DatabaseSync {
  const sqlite = new DatabaseSync(path, { readOnly: true });
  const mapped = isMapped ? MAPPED_BYTES : 0;
  sqlite.exec(`PRAGMA mmap_size = ${mapped}; PRAGMA cache_size = -${PAGE_CACHE_KIB}`);
  return sqlite;
}

/** Returns whether Deno KV has made the tables of a file in the form that this module reads. */
export function isKnownSchema(path: string): boolean {
  const sqlite = new DatabaseSync(path, { readOnly: true });
  try {
    const columns = sqlite.prepare("SELECT name FROM pragma_table_info('kv')").all();
    const known = KV_COLUMNS.split(", ").every((name) =>
      columns.some((each) => each["name"] === name)
    );
    if (!known) return false;
    const state = sqlite.prepare("SELECT max(version) AS version FROM migration_state").all()[0];
    return state?.["version"] === KNOWN_SCHEMA;
  } finally {
    sqlite.close();
  }
}

/**
 * Reads on a connection of its own. A read is synchronous: it blocks the process for some microseconds if the system has
 * the file in memory, and for longer if the disk has to be read. Once reads have waited for the disk too long, Deno KV
 * reads in its thread for a while (see `BlockedTime`).
 *
 * Every read sees all commits that were answered before it. One call of `getMany`, and one batch of `list`, reads at one
 * moment.
 */
export class SqliteReader implements KvReader, Disposable {
  readonly #sqlite: DatabaseSync;
  readonly #queue: ReadQueue;
  readonly #get: StatementSync;
  /** By number of keys. */
  readonly #getMany = new Map<number, StatementSync>();
  readonly #forward: StatementSync;
  readonly #backward: StatementSync;
  readonly #names: StatementSync;
  readonly #any: StatementSync;
  readonly #unreadable: UnreadableEntries;
  readonly #turn = new Turn();
  readonly #blocked = new BlockedTime();
  /** Whether a transaction is open. */
  #isReading = false;
  #isClosed = false;

  /**
   * @param path A file whose tables have the known form.
   * @param kv Reads records while the disk is slow.
   */
  constructor(
    path: string,
    private readonly kv: KvReader,
    { isMapped, unreadable }: { isMapped: boolean; unreadable: UnreadableEntries },
  ) {
    const sqlite = openForReading(path, isMapped);
    this.#sqlite = sqlite;
    this.#unreadable = unreadable;
    this.#queue = new ReadQueue(kv);
    this.#get = sqlite.prepare("SELECT v, v_encoding, version FROM kv WHERE k = ?");
    const range = `SELECT ${KV_COLUMNS} FROM kv WHERE k >= ? AND k < ? ORDER BY k`;
    this.#forward = sqlite.prepare(`${range} LIMIT ?`);
    this.#backward = sqlite.prepare(`${range} DESC LIMIT ?`);
    this.#any = sqlite.prepare("SELECT 1 AS found FROM kv WHERE k >= ? AND k < ? LIMIT 1");
    // The NUL after each name belongs to its key. A text of SQLite would end at the first one, a blob does not.
    this.#names = sqlite.prepare(
      "SELECT CAST(group_concat(name, '') AS BLOB) AS names, count(*) AS count " +
        "FROM (SELECT substr(k, ?) AS name FROM kv WHERE k >= ? AND k < ? ORDER BY k LIMIT ?)",
    );
  }

  async get<T>(key: Deno.KvKey): Promise<Deno.KvEntryMaybe<T>> {
    return await this.#readFrom(
      () => this.kv.get<T>(key),
      () => this.#read(() => this.#entry<T>(key), () => 1),
    );
  }

  /** Reads both entries at one moment and in one turn. */
  async getReferenced<T, R>(
    key: Deno.KvKey,
    referenceOf: ReferenceOf<T>,
  ): Promise<Referenced<T, R>> {
    const read = (): Referenced<T, R> => {
      const first = this.#entry<T>(key);
      const reference = first.value === null ? undefined : referenceOf(first.value);
      return [first, reference === undefined ? undefined : this.#entry<R>(reference)];
    };
    return await this.#readFrom(
      () => this.#queue.getReferenced<T, R>(key, referenceOf),
      () => this.#read(read, () => 2),
    );
  }

  async getMany<T extends readonly unknown[]>(
    keys: readonly [...{ [K in keyof T]: Deno.KvKey }],
  ): Promise<{ [K in keyof T]: Deno.KvEntryMaybe<T[K]> }> {
    if (keys.length === 0) return [] as never;
    return await this.#readFrom(() => this.#queue.get<T>(keys), () => this.#readMany<T>(keys));
  }

  async #readMany<T extends readonly unknown[]>(
    keys: readonly [...{ [K in keyof T]: Deno.KvKey }],
  ): Promise<{ [K in keyof T]: Deno.KvEntryMaybe<T[K]> }> {
    const rows = await this.#rows<IndexedRow>(
      this.#statementFor(keys.length),
      keys.map(encodeKey),
    );
    const found: Deno.KvEntryMaybe<unknown>[] = keys.map((key) => this.#entryOf(key, undefined));
    for (const row of rows) found[row.i] = this.#entryOf(keys[row.i] ?? [], row);
    return found as { [K in keyof T]: Deno.KvEntryMaybe<T[K]> };
  }

  list<T>(
    selector: Deno.KvListSelector,
    options?: ListOptions,
  ): AsyncIterableIterator<Deno.KvEntry<T>> {
    return this.#mustWait() ? this.kv.list(selector, options) : this.#list(selector, options);
  }

  async *#list<T>(
    selector: Deno.KvListSelector,
    { limit = Infinity, batchSize = 100, reverse = false, unreadable = false }: ListOptions = {},
  ): AsyncGenerator<Deno.KvEntry<T>> {
    const statement = reverse ? this.#backward : this.#forward;
    let [from, to] = rangeOf(selector);
    for (let left = limit; left > 0;) {
      const count = Math.min(batchSize, left);
      const rows = await this.#rows<KvRow>(statement, [from, to, count]);
      for (const row of rows) {
        const entry = this.#entryOf<T>(keyOf(row), row) as Deno.KvEntry<T>;
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

  async names(range: NameRange, limit: number): Promise<string> {
    if (this.#mustWait()) return await readNames(this.kv, range, limit);
    // SQLite counts bytes from 1, and a byte with the type comes before the name.
    const first = encodeKey(range.start.slice(0, -1)).byteLength + 2;
    const values = [first, encodeKey(range.start), encodeKey(range.end), limit];
    const row = await this.#read(
      () => this.#names.get(...values) as NamesRow | undefined,
      (row) => row?.count ?? 0,
    );
    return row === undefined || row.names === null ? "" : decodeText(row.names);
  }

  async hasAny(ranges: readonly NameRange[]): Promise<boolean> {
    if (this.#mustWait()) return await hasAny(this.kv, ranges);
    const isIn = ({ start, end }: NameRange) =>
      this.#any.get(encodeKey(start), encodeKey(end)) !== undefined;
    return await this.#read(() => ranges.some(isIn), () => ranges.length);
  }

  [Symbol.dispose](): void {
    this.#isClosed = true;
    this.#sqlite.close();
  }

  /** Returns whether the disk is so slow that reads have to leave the process's thread. */
  #mustWait(): boolean {
    return this.#blocked.isExhausted(performance.now());
  }

  /** Reads with Deno KV while reads have to leave the thread, else here. */
  async #readFrom<T>(withKv: () => Promise<T>, here: () => Promise<T>): Promise<T> {
    if (!this.#mustWait()) return await here();
    try {
      return await withKv();
    } catch {
      // Deno KV fails at a value that it cannot decode. Any other failure shows here as well.
      return await here();
    }
  }

  #entry<T>(key: Deno.KvKey): Deno.KvEntryMaybe<T> {
    return this.#entryOf<T>(key, this.#get.get(encodeKey(key)) as Omit<KvRow, "k"> | undefined);
  }

  #entryOf<T>(key: Deno.KvKey, row: Omit<KvRow, "k"> | undefined): Deno.KvEntryMaybe<T> {
    if (row === undefined) return { key, value: null, versionstamp: null };
    const versionstamp = versionstampOf(row.version);
    try {
      return { key, value: decodeValue(key, row) as T, versionstamp };
    } catch (error) {
      // SQLite has no checksums: a bit of the file may have changed.
      this.#unreadable.note(key, versionstamp, error);
      return { key, value: null as T, versionstamp };
    }
  }

  #rows<Row>(
    statement: StatementSync,
    values: (Uint8Array<ArrayBuffer> | number)[],
  ): Promise<Row[]> {
    return this.#read(() => statement.all(...values) as Row[], (rows) => rows.length);
  }

  /** @param countOf Returns how many rows were read. */
  async #read<T>(read: () => T, countOf: (result: T) => number): Promise<T> {
    let began = performance.now();
    while (this.#turn.isOver(began)) {
      await this.#turn.next();
      began = performance.now();
    }
    const deadline = began + LOCKED_RETRY_TIME;
    while (true) {
      try {
        this.#beginBriefly();
        const result = read();
        this.#blocked.add(began, performance.now(), countOf(result));
        return result;
      } catch (error) {
        // Another process is repairing or closing the log.
        if (!isLocked(error) || performance.now() >= deadline) throw error;
        await delay(LOCKED_PAUSE);
        began = performance.now();
      }
    }
  }

  /**
   * Begins a transaction for the reads that follow at once, before any other event: taking and releasing the locks of a
   * transaction takes half of the time of a read. A commit that was answered before those reads were asked for has been
   * answered before the transaction, too.
   */
  #beginBriefly(): void {
    if (this.#isReading) return;
    this.#sqlite.exec("BEGIN");
    this.#isReading = true;
    queueMicrotask(() => {
      this.#isReading = false;
      if (!this.#isClosed) endTransaction(this.#sqlite);
    });
  }

  #statementFor(count: number): StatementSync {
    if (count > MAX_GET_MANY) throw new TypeError(`Too many keys: ${count}`);
    const known = this.#getMany.get(count);
    if (known !== undefined) return known;
    const one = (i: number) => `SELECT ${i} AS i, v, v_encoding, version FROM kv WHERE k = ?`;
    const sql = Array.from({ length: count }, (_, i) => one(i)).join(" UNION ALL ");
    const statement = this.#sqlite.prepare(sql);
    this.#getMany.set(count, statement);
    return statement;
  }
}

/**
 * Ends a transaction that only read. After a failed read SQLite may have ended it itself, or report the same error again:
 * neither matters, as that read has thrown.
 */
function endTransaction(sqlite: DatabaseSync): void {
  for (const statement of ["COMMIT", "ROLLBACK"]) {
    try {
      return sqlite.exec(statement);
    } catch {
      // If `COMMIT` fails, `ROLLBACK` ends the transaction. If that fails too, SQLite has ended it already.
    }
  }
}

function keyOf({ k }: KvRow): Deno.KvKey {
  const key = decodeKey(k);
  if (key === undefined) throw new TypeError("The store has a key of an unknown form");
  return key;
}

type Bytes = Uint8Array<ArrayBuffer>;

/** Returns the first key of a selector, and the first one after it. A prefix does not select itself. */
function rangeOf(selector: Deno.KvListSelector): [from: Bytes, to: Bytes] {
  if (!("prefix" in selector)) return [encodeKey(selector.start), encodeKey(selector.end)];
  const [first, end] = prefixRange(selector.prefix);
  return [
    "start" in selector ? encodeKey(selector.start) : afterKey(first),
    "end" in selector ? encodeKey(selector.end) : end,
  ];
}

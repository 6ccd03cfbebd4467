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
  COUNTER,
  COUNTER_LENGTH,
  decodeText,
  encodeKey,
  KV_COLUMNS,
  type KvRow,
} from "./kv_encoding.ts";
import {
  type Around,
  hasAny,
  type KvReader,
  type ListOptions,
  MAX_GET_MANY,
  type NameRange,
  readMany,
  readNames,
  ReadQueue,
  type Referenced,
  type ReferenceOf,
} from "./read_queue.ts";
import {
  entryOf,
  listEntries,
  openForReading,
  type RowRange,
  SELECT_FIRST,
  SELECT_LAST,
} from "./rows.ts";
import { BlockedTime, Turn } from "./turn.ts";
import type { UnreadableEntries } from "./record_codec.ts";

/** The version of Deno KV's tables that this module knows, as Deno KV numbers its migrations. */
const KNOWN_SCHEMA = 3;

/** The pause between two attempts to read a locked file, in milliseconds. */
const LOCKED_PAUSE = 5;

/** A value of several that one statement reads. */
type IndexedRow = Omit<KvRow, "k"> & { i: number };

/** The names of a batch, and how many they are. */
interface NamesRow {
  names: Uint8Array | null;
  count: number;
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
 * the file in memory, and for longer if the disk has to be read. Once reads have waited for the disk too long, a thread
 * reads for a while (see `BlockedTime`).
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
  readonly #first: StatementSync;
  readonly #last: StatementSync;
  readonly #names: StatementSync;
  readonly #any: StatementSync;
  readonly #noCounter: StatementSync;
  readonly #unreadable: UnreadableEntries;
  readonly #turn = new Turn();
  readonly #blocked = new BlockedTime();
  /** Whether a transaction is open. */
  #isReading = false;
  #isClosed = false;

  /**
   * @param path A file whose tables have the known form.
   * @param slow Reads while the disk is slow.
   */
  constructor(
    path: string,
    private readonly slow: KvReader,
    { isMapped, unreadable }: { isMapped: boolean; unreadable: UnreadableEntries },
  ) {
    const sqlite = openForReading(path, isMapped);
    this.#sqlite = sqlite;
    this.#unreadable = unreadable;
    this.#queue = new ReadQueue(slow);
    this.#get = sqlite.prepare("SELECT v, v_encoding, version FROM kv WHERE k = ?");
    this.#first = sqlite.prepare(SELECT_FIRST);
    this.#last = sqlite.prepare(SELECT_LAST);
    this.#any = sqlite.prepare("SELECT 1 AS found FROM kv WHERE k >= ? AND k < ? LIMIT 1");
    this.#noCounter = sqlite.prepare(
      `SELECT 1 AS found FROM kv WHERE k = ? AND NOT (v_encoding = ${COUNTER} AND length(v) = ${COUNTER_LENGTH})`,
    );
    // The NUL after each name belongs to its key. A text of SQLite would end at the first one, a blob does not.
    this.#names = sqlite.prepare(
      "SELECT CAST(group_concat(name, '') AS BLOB) AS names, count(*) AS count " +
        "FROM (SELECT substr(k, ?) AS name FROM kv WHERE k >= ? AND k < ? ORDER BY k LIMIT ?)",
    );
  }

  async get<T>(key: Deno.KvKey): Promise<Deno.KvEntryMaybe<T>> {
    return await this.#readFrom(
      () => this.slow.get<T>(key),
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
    return await this.#readFrom<unknown>(
      () => this.#queue.get<T>(keys),
      () => this.#read(() => this.#entries(keys), ({ length }) => length),
    ) as { [K in keyof T]: Deno.KvEntryMaybe<T[K]> };
  }

  /** Reads all at one moment and in one turn. */
  async getAround(keys: readonly Deno.KvKey[], ranges: readonly NameRange[]): Promise<Around> {
    const read = (): Around => {
      const entries = this.#entries(keys);
      return [entries, entries[0]?.versionstamp !== null || this.#hasAny(ranges)];
    };
    return await this.#readFrom(
      () => this.#queue.getAround(keys, ranges),
      () => this.#read(read, () => keys.length + ranges.length),
    );
  }

  list<T>(
    selector: Deno.KvListSelector,
    options?: ListOptions,
  ): AsyncIterableIterator<Deno.KvEntry<T>> {
    if (this.#mustWait()) return this.slow.list(selector, options);
    const read = ({ from, to, count, reverse }: RowRange) =>
      this.#rows<KvRow>(reverse ? this.#last : this.#first, [from, to, count]);
    return listEntries(read, this.#unreadable, selector, options);
  }

  async names(range: NameRange, limit: number): Promise<string> {
    if (this.#mustWait()) return await readNames(this.slow, range, limit);
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
    if (this.#mustWait()) return await hasAny(this.slow, ranges);
    return await this.#read(() => this.#hasAny(ranges), () => ranges.length);
  }

  /** Returns the first of these entries that is no counter. No value is read. */
  async findNoCounter(keys: readonly Deno.KvKey[]): Promise<Deno.KvKey | undefined> {
    if (this.#mustWait()) {
      const entries = await readMany(this.slow, keys);
      return entries.find(({ value, versionstamp }) =>
        versionstamp !== null && !(value instanceof Deno.KvU64)
      )?.key;
    }
    const find = () => keys.find((key) => this.#noCounter.get(encodeKey(key)) !== undefined);
    return await this.#read(find, () => keys.length);
  }

  [Symbol.dispose](): void {
    this.#isClosed = true;
    this.#sqlite.close();
  }

  /** Returns whether the disk is so slow that reads have to leave the process's thread. */
  #mustWait(): boolean {
    return this.#blocked.isExhausted(performance.now());
  }

  async #readFrom<T>(slowly: () => Promise<T>, here: () => Promise<T>): Promise<T> {
    return await (this.#mustWait() ? slowly() : here());
  }

  #entry<T>(key: Deno.KvKey): Deno.KvEntryMaybe<T> {
    return this.#entryOf<T>(key, this.#get.get(encodeKey(key)) as Omit<KvRow, "k"> | undefined);
  }

  #entries(keys: readonly Deno.KvKey[]): Deno.KvEntryMaybe<unknown>[] {
    const rows = this.#statementFor(keys.length).all(...keys.map(encodeKey));
    const found = keys.map((key) => this.#entryOf(key, undefined));
    for (const row of rows as unknown as IndexedRow[]) {
      found[row.i] = this.#entryOf(keys[row.i] ?? [], row);
    }
    return found;
  }

  #hasAny(ranges: readonly NameRange[]): boolean {
    return ranges.some(({ start, end }) =>
      this.#any.get(encodeKey(start), encodeKey(end)) !== undefined
    );
  }

  #entryOf<T>(key: Deno.KvKey, row: Omit<KvRow, "k"> | undefined): Deno.KvEntryMaybe<T> {
    return entryOf(key, row, this.#unreadable);
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

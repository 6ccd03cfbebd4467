import { DatabaseSync, type StatementSync } from "node:sqlite";
import { dirname } from "@std/path";
import { FolderLock } from "../disk/file_lock.ts";
import { LOCKED_RETRY_TIME } from "../disk/sqlite.ts";
import { checkpointAfterRead } from "../disk/write_ahead_log.ts";
import { decodeKey, decodeValue, encodeKey, versionstampOf } from "../engine/kv_encoding.ts";

/** An entry of the store. */
export interface SnapshotEntry<T = unknown> {
  key: (string | number)[];
  value: T;
  versionstamp: string;
}

/** Entries that one query reads: records, and chunks of up to 64 KiB. */
const RECORDS = 500;
const CHUNKS = 16;

/** This byte follows a key's bytes in the first key that is greater than all keys beginning with it. */
const AFTER_PREFIX = 0xff;

const NO_LOCK: Disposable = { [Symbol.dispose]: () => {} };

type Bytes = Uint8Array<ArrayBuffer>;

/** A row of the table in which Deno KV keeps its entries. */
interface Row {
  k: Bytes;
  v: Bytes;
  v_encoding: number;
  version: number;
}

/**
 * All entries of a store at one moment, read directly from its SQLite file, while others write. Memory is bounded.
 * Until the snapshot is disposed of, the store's log grows by everything that is written.
 */
export class Snapshot implements Disposable {
  readonly #path: string;
  readonly #sqlite: DatabaseSync;
  readonly #lock: Disposable;
  readonly #entry: StatementSync;
  readonly #entries: StatementSync;
  readonly #sizes: StatementSync;
  readonly #nextKey: StatementSync;

  private constructor(path: string, sqlite: DatabaseSync, lock: Disposable) {
    this.#path = path;
    this.#sqlite = sqlite;
    this.#lock = lock;
    this.#entry = sqlite.prepare("SELECT k, v, v_encoding, version FROM kv WHERE k = ?");
    this.#entries = sqlite.prepare(
      "SELECT k, v, v_encoding, version FROM kv WHERE k >= ? AND k < ? ORDER BY k LIMIT ?",
    );
    this.#sizes = sqlite.prepare(
      "SELECT k, length(v) AS size FROM kv WHERE k >= ? AND k < ? ORDER BY k LIMIT ?",
    );
    this.#nextKey = sqlite.prepare("SELECT k FROM kv WHERE k >= ? AND k < ? ORDER BY k LIMIT 1");
  }

  /**
   * Takes a snapshot of the store in a file; throws what SQLite throws if that is no store.
   *
   * @param isPrivate Whether no other process knows the file, so that its folder need not be locked.
   */
  static async take(path: string, isPrivate = false): Promise<Snapshot> {
    const lock = isPrivate ? NO_LOCK : await FolderLock.take(dirname(path), "shared");
    if (lock === undefined) throw new Error("a backup is being restored there");
    let sqlite: DatabaseSync | undefined;
    try {
      sqlite = new DatabaseSync(path);
      sqlite.exec(`PRAGMA busy_timeout = ${LOCKED_RETRY_TIME}; PRAGMA query_only = ON; BEGIN`);
      // The first statement that reads fixes the moment.
      return new Snapshot(path, sqlite, lock);
    } catch (error) {
      sqlite?.close();
      lock[Symbol.dispose]();
      throw error;
    }
  }

  /**
   * Returns what SQLite finds wrong with the structure of its file, in its words, at most 20 findings. A page that
   * could not be read once counts as damaged, so SQLite checks twice.
   */
  damage(): string[] {
    return this.#check().length === 0 ? [] : this.#check();
  }

  #check(): string[] {
    const rows = this.#sqlite.prepare("PRAGMA integrity_check(20)").all();
    return rows.map((row) => String(row["integrity_check"])).filter((text) => text !== "ok");
  }

  /** Returns an entry, or `undefined` if there is none. */
  get<T>(key: Deno.KvKey): SnapshotEntry<T> | undefined {
    const row = this.#entry.get(encodeKey(key)) as Row | undefined;
    return row === undefined ? undefined : entryOf<T>(row, [...key] as (string | number)[]);
  }

  /** Returns whether there is an entry. Its value is not read. */
  has(key: Deno.KvKey): boolean {
    const bytes = encodeKey(key);
    return this.#nextKey.get(bytes, Uint8Array.of(...bytes, 0)) !== undefined;
  }

  /** Yields the entries below a prefix in the order of their keys. */
  *list<T>(prefix: Deno.KvKey): Generator<SnapshotEntry<T>> {
    for (const row of this.#rows(this.#entries, rangeOf(prefix), RECORDS) as Iterable<Row>) {
      const key = decodeKey(row.k);
      if (key !== undefined) yield entryOf<T>(row, key);
    }
  }

  /** Yields the keys below a prefix in their order. No value is read. */
  *keys(prefix: Deno.KvKey): Generator<(string | number)[]> {
    for (const { k } of this.#rows(this.#sizes, rangeOf(prefix), RECORDS) as Iterable<Row>) {
      const key = decodeKey(k);
      if (key !== undefined) yield key;
    }
  }

  /** Yields the index of each chunk below a prefix, which is the last part of its key, and its size in bytes. */
  *chunkSizes(prefix: Deno.KvKey): Generator<[index: number, size: number]> {
    type Size = { k: Bytes; size: number };
    for (const { k, size } of this.#rows(this.#sizes, rangeOf(prefix), RECORDS) as Iterable<Size>) {
      yield [Number(decodeKey(k)?.at(-1)), Number(size)];
    }
  }

  /** Yields the index of each chunk below a prefix, which is the last part of its key, and its bytes. */
  *chunks(prefix: Deno.KvKey): Generator<[index: number, bytes: Bytes]> {
    for (const { k, v } of this.#rows(this.#entries, rangeOf(prefix), CHUNKS) as Iterable<Row>) {
      yield [Number(decodeKey(k)?.at(-1)), v];
    }
  }

  /**
   * Yields the first `length` parts of the keys below a prefix, each combination once. The keys in between are skipped.
   */
  *heads(prefix: Deno.KvKey, length: number): Generator<(string | number)[]> {
    let [from, to] = rangeOf(prefix);
    while (true) {
      const row = this.#nextKey.get(from, to) as { k: Bytes } | undefined;
      if (row === undefined) return;
      const key = decodeKey(row.k);
      if (key === undefined || key.length < length) {
        from = Uint8Array.of(...row.k, 0);
        continue;
      }
      const head = key.slice(0, length);
      yield head;
      [, from] = rangeOf(head);
    }
  }

  /** Yields the rows of a range, `limit` of them a query. */
  *#rows(
    statement: StatementSync,
    [start, end]: [Bytes, Bytes],
    limit: number,
  ): Generator<{ k: Bytes }> {
    let from = start;
    while (true) {
      const page = statement.all(from, end, limit) as unknown as { k: Bytes }[];
      yield* page;
      const last = page.at(-1);
      if (last === undefined || page.length < limit) return;
      from = Uint8Array.of(...last.k, 0);
    }
  }

  [Symbol.dispose](): void {
    try {
      checkpointAfterRead(this.#path, this.#sqlite);
    } catch {
      // The log of a damaged store cannot be checkpointed. The damage is reported elsewhere.
    }
    this.#sqlite.close();
    this.#lock[Symbol.dispose]();
  }
}

function entryOf<T>(row: Row, key: (string | number)[]): SnapshotEntry<T> {
  const value = decodeValue(row.v, Number(row.v_encoding)) as T;
  return { key, value, versionstamp: versionstampOf(row.version) };
}

function rangeOf(prefix: Deno.KvKey): [start: Bytes, end: Bytes] {
  const start = encodeKey(prefix);
  return [start, Uint8Array.of(...start, AFTER_PREFIX)];
}

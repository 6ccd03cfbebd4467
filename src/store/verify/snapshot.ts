import { dirname } from "@std/path";
import { DatabaseSync, type StatementSync } from "node:sqlite";
import { FolderLock } from "../disk/file_lock.ts";
import { LOCKED_RETRY_TIME } from "../disk/sqlite.ts";
import { checkpointAfterRead } from "../disk/write_ahead_log.ts";
import { decodeKey, decodeValue, encodeKey, versionstampOf } from "../engine/kv_encoding.ts";

/** An entry as it is in the store. */
export interface SnapshotEntry<T = unknown> {
  key: (string | number)[];
  value: T;
  versionstamp: string;
}

/** Entries that are read at once: records, and pieces of files of up to 64 KiB. */
const RECORDS = 500;
const PIECES = 16;

/** Behind all keys that begin with a key, there stands this byte. */
const BEHIND = 0xff;

const NO_LOCK: Disposable = { [Symbol.dispose]: () => {} };

type Bytes = Uint8Array<ArrayBuffer>;

interface Row {
  k: Bytes;
  v: Bytes;
  v_encoding: number;
  version: number;
}

/**
 * All entries of a store as they are at one moment, however long it is read and whoever writes meanwhile. Until it is
 * disposed of, the store's log grows by what is written.
 */
export class Snapshot implements Disposable {
  readonly #path: string;
  readonly #sqlite: DatabaseSync;
  readonly #lock: Disposable;
  readonly #one: StatementSync;
  readonly #page: StatementSync;
  readonly #sizes: StatementSync;
  readonly #next: StatementSync;

  private constructor(path: string, sqlite: DatabaseSync, lock: Disposable) {
    this.#path = path;
    this.#sqlite = sqlite;
    this.#lock = lock;
    this.#one = sqlite.prepare("SELECT k, v, v_encoding, version FROM kv WHERE k = ?");
    this.#page = sqlite.prepare(
      "SELECT k, v, v_encoding, version FROM kv WHERE k >= ? AND k < ? ORDER BY k LIMIT ?",
    );
    this.#sizes = sqlite.prepare(
      "SELECT k, length(v) AS size FROM kv WHERE k >= ? AND k < ? ORDER BY k LIMIT ?",
    );
    this.#next = sqlite.prepare("SELECT k FROM kv WHERE k >= ? AND k < ? ORDER BY k LIMIT 1");
  }

  /**
   * Takes it of the store in a file; throws what SQLite throws where that is none.
   *
   * @param isOurs Whether nobody else can know the file, so that nobody has to be told that it is in use.
   */
  static async take(path: string, isOurs = false): Promise<Snapshot> {
    const lock = isOurs ? NO_LOCK : await FolderLock.take(dirname(path), "shared");
    if (lock === undefined) throw new Error("a backup is being restored there");
    let sqlite: DatabaseSync | undefined;
    try {
      sqlite = new DatabaseSync(path);
      sqlite.exec(`PRAGMA busy_timeout = ${LOCKED_RETRY_TIME}; PRAGMA query_only = ON; BEGIN`);
      // The first statement takes it.
      return new Snapshot(path, sqlite, lock);
    } catch (error) {
      sqlite?.close();
      lock[Symbol.dispose]();
      throw error;
    }
  }

  /**
   * What SQLite itself finds wrong with its file, in its words; some of it where it is much. SQLite looks twice: a page
   * that could not be read once counts as damaged, too.
   */
  damage(): string[] {
    return this.#check().length === 0 ? [] : this.#check();
  }

  #check(): string[] {
    const rows = this.#sqlite.prepare("PRAGMA integrity_check(20)").all();
    return rows.map((row) => String(row["integrity_check"])).filter((text) => text !== "ok");
  }

  /** An entry; `undefined` where there is none. */
  get<T>(key: Deno.KvKey): SnapshotEntry<T> | undefined {
    const row = this.#one.get(encodeKey(key)) as Row | undefined;
    return row === undefined ? undefined : entryOf<T>(row, [...key] as (string | number)[]);
  }

  has(key: Deno.KvKey): boolean {
    const bytes = encodeKey(key);
    return this.#next.get(bytes, Uint8Array.of(...bytes, 0)) !== undefined;
  }

  /** The entries whose keys begin with a key, in their order. */
  *list<T>(prefix: Deno.KvKey): Generator<SnapshotEntry<T>> {
    for (const row of this.#rows(this.#page, rangeOf(prefix), RECORDS) as Iterable<Row>) {
      const key = decodeKey(row.k);
      if (key !== undefined) yield entryOf<T>(row, key);
    }
  }

  /** The same without the values. */
  *keys(prefix: Deno.KvKey): Generator<(string | number)[]> {
    for (const { k } of this.#rows(this.#sizes, rangeOf(prefix), RECORDS) as Iterable<Row>) {
      const key = decodeKey(k);
      if (key !== undefined) yield key;
    }
  }

  /** The last part of each key that begins with a key and has one more, and how many bytes lie there. */
  *pieceSizes(prefix: Deno.KvKey): Generator<[index: number, size: number]> {
    type Size = { k: Bytes; size: number };
    for (const { k, size } of this.#rows(this.#sizes, rangeOf(prefix), RECORDS) as Iterable<Size>) {
      yield [Number(decodeKey(k)?.at(-1)), Number(size)];
    }
  }

  /** The same with the bytes. */
  *pieces(prefix: Deno.KvKey): Generator<[index: number, bytes: Bytes]> {
    for (const { k, v } of this.#rows(this.#page, rangeOf(prefix), PIECES) as Iterable<Row>) {
      yield [Number(decodeKey(k)?.at(-1)), v];
    }
  }

  /** What keys that begin with a key have as their first parts, so many of them; each once. Nothing between is read. */
  *heads(prefix: Deno.KvKey, parts: number): Generator<(string | number)[]> {
    let [from, to] = rangeOf(prefix);
    while (true) {
      const row = this.#next.get(from, to) as { k: Bytes } | undefined;
      if (row === undefined) return;
      const key = decodeKey(row.k);
      if (key === undefined || key.length < parts) {
        from = Uint8Array.of(...row.k, 0);
        continue;
      }
      const head = key.slice(0, parts);
      yield head;
      [, from] = rangeOf(head);
    }
  }

  /** Pages that SQLite reads in one go, so that memory is bounded whatever the store's size. */
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
      // In a damaged store nothing is taken in; that it is damaged was told before.
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
  return [start, Uint8Array.of(...start, BEHIND)];
}

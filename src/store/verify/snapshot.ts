import { DatabaseSync, type StatementSync } from "node:sqlite";
import { dirname } from "@std/path/dirname";
import { FolderLock } from "../disk/file_lock.ts";
import { LOCKED_RETRY_TIME } from "../disk/sqlite.ts";
import { checkpointAfterRead } from "../disk/write_ahead_log.ts";
import { identityOf } from "../engine/keys.ts";
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

/**
 * All entries of a store at one moment, read directly from its SQLite file, while others write. Memory is bounded.
 * Until the snapshot is disposed of, the store's log grows by everything that is written.
 */
export class Snapshot implements Disposable {
  /** Entries that were found and whose values cannot be decoded. No read returns them. */
  readonly unreadable = new Map<string, UnreadableEntry>();
  readonly #entry: StatementSync;
  readonly #entries: StatementSync;
  readonly #keys: StatementSync;

  private constructor(
    private readonly path: string,
    private readonly sqlite: DatabaseSync,
    private readonly lock: Disposable,
  ) {
    this.#entry = sqlite.prepare(`SELECT ${KV_COLUMNS} FROM kv WHERE k = ?`);
    this.#entries = sqlite.prepare(
      `SELECT ${KV_COLUMNS} FROM kv WHERE k >= ? AND k < ? ORDER BY k LIMIT ?`,
    );
    this.#keys = sqlite.prepare("SELECT k FROM kv WHERE k >= ? AND k < ? ORDER BY k LIMIT ?");
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
    const rows = this.sqlite.prepare("PRAGMA integrity_check(20)").all();
    return rows.map((row) => String(row["integrity_check"])).filter((text) => text !== "ok");
  }

  /** Returns an entry, or `undefined` if there is none. */
  get<T>(key: Deno.KvKey): SnapshotEntry<T> | undefined {
    const row = this.#entry.get(encodeKey(key)) as KvRow | undefined;
    return row === undefined ? undefined : this.#entryOf(row, [...key] as (string | number)[]);
  }

  /** Returns whether there is an entry. Its value is not read. */
  has(key: Deno.KvKey): boolean {
    const bytes = encodeKey(key);
    return this.#keys.get(bytes, afterKey(bytes), 1) !== undefined;
  }

  /** Yields the entries below a prefix in the order of their keys. */
  *list<T>(prefix: Deno.KvKey): Generator<SnapshotEntry<T>> {
    for (const row of this.#rows(this.#entries, prefixRange(prefix), RECORDS) as Iterable<KvRow>) {
      const key = decodeKey(row.k);
      const entry = key === undefined ? undefined : this.#entryOf<T>(row, key);
      if (entry !== undefined) yield entry;
    }
  }

  /** Yields the keys below a prefix in their order. No value is read. */
  *keys(prefix: Deno.KvKey): Generator<(string | number)[]> {
    for (const { k } of this.#rows(this.#keys, prefixRange(prefix), RECORDS)) {
      const key = decodeKey(k);
      if (key !== undefined) yield key;
    }
  }

  /** Yields the index of each chunk below a prefix, which is the last part of its key, and its bytes. */
  *chunks(prefix: Deno.KvKey): Generator<[index: number, bytes: Bytes]> {
    for (
      const { k, v } of this.#rows(this.#entries, prefixRange(prefix), CHUNKS) as Iterable<KvRow>
    ) {
      yield [Number(decodeKey(k)?.at(-1)), v];
    }
  }

  /**
   * Yields the first `length` parts of the keys below a prefix, each combination once. The keys in between are skipped.
   */
  *heads(prefix: Deno.KvKey, length: number): Generator<(string | number)[]> {
    let [from, to] = prefixRange(prefix);
    while (true) {
      const row = this.#keys.get(from, to, 1) as { k: Bytes } | undefined;
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
      from = afterKey(last.k);
    }
  }

  #entryOf<T>(row: KvRow, key: (string | number)[]): SnapshotEntry<T> | undefined {
    try {
      const value = decodeValue(key, row) as T;
      return { key, value, versionstamp: versionstampOf(row.version) };
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      this.unreadable.set(identityOf(key), { key, reason });
      return undefined;
    }
  }

  [Symbol.dispose](): void {
    try {
      checkpointAfterRead(this.path, this.sqlite);
    } catch {
      // The log of a damaged store cannot be checkpointed. The damage is reported elsewhere.
    }
    this.sqlite.close();
    this.lock[Symbol.dispose]();
  }
}

/**
 * The two files of a store that is being restored, in a folder of its own inside the data folder.
 *
 * @module
 */
import { DatabaseSync, type StatementSync } from "node:sqlite";
import { ByteReader } from "../../../repository/bytes.ts";
import type { SnapshotInfo } from "../../../repository/manifest.ts";
import type { Bytes } from "../../../repository/bytes.ts";
import { exists } from "../../disk/durable_file.ts";
import {
  byteFilePath,
  createByteFile,
  createRecordFile,
  databasePath,
} from "../../disk/store_files.ts";
import { createTables } from "../../engine/database_file.ts";
import { keys, prefixes } from "../../engine/keys.ts";
import { BYTE_KINDS } from "../../engine/records/kinds.ts";
import { encodeKey } from "../../reads/kv_encoding.ts";
import { sealValue } from "../../reads/record_codec.ts";
import { heapLimiter } from "../../verify/heap_limiter.ts";
import { readRows, ROW_COLUMNS, SECTIONS, type StoredRow } from "../rows.ts";

/** Deno KV's numbers of the encodings of counters and of bytes. */
const COUNTER = 2;
const BYTES = 3;

/** Writes rows as SQLite, many in one transaction, which is several times as fast as Deno KV. */
export class StagedStore implements Disposable {
  readonly #records: DatabaseSync;
  readonly #bytes: DatabaseSync;
  readonly #addRecord: StatementSync;
  readonly #addBytes: StatementSync;
  #isInTransaction = false;
  readonly #limitHeap = heapLimiter();
  readonly #byteKinds = BYTE_KINDS.map((kind) => encodeKey(prefixes.all(kind)));

  private constructor(records: string, bytes: string) {
    this.#records = open(records);
    this.#bytes = open(bytes);
    const insert = `INSERT OR REPLACE INTO kv (${ROW_COLUMNS}) VALUES (?, ?, ?, ?, ?)`;
    this.#addRecord = this.#records.prepare(insert);
    this.#addBytes = this.#bytes.prepare(insert);
  }

  /** Opens the files in a folder, or creates them. @param byteFile The name of the file of the chunks. */
  static async open(folder: string, byteFile: string): Promise<StagedStore> {
    const records = databasePath(folder);
    const bytes = byteFilePath(records, byteFile);
    if (!await exists(records)) createRecordFile(records);
    if (!await exists(bytes)) createByteFile(bytes);
    await createTables(records);
    await createTables(bytes);
    return new StagedStore(records, bytes);
  }

  begin(): void {
    this.#isInTransaction = true;
    this.#records.exec("BEGIN");
    this.#bytes.exec("BEGIN");
  }

  commit(): void {
    this.#bytes.exec("COMMIT");
    this.#records.exec("COMMIT");
    this.#isInTransaction = false;
  }

  addGroup(section: number, group: Bytes): void {
    for (const row of readRows(new ByteReader(group))) {
      const isInBytes = section !== SECTIONS.records || this.#isByteRow(row);
      const { k, v, v_encoding, version, expiration_ms } = row;
      const add = isInBytes ? this.#addBytes : this.#addRecord;
      add.run(k, v, v_encoding, version, expiration_ms);
      this.#limitHeap();
    }
  }

  /** A store whose separation was interrupted has chunks among its records. */
  #isByteRow({ k }: StoredRow): boolean {
    return this.#byteKinds.some((prefix) => prefix.every((byte, i) => k[i] === byte));
  }

  /** Makes the files those of one store. Its format and its id are known also if their entries were lost. */
  finish(
    { store, format, commits: { records, bytes } }: Pick<
      SnapshotInfo,
      "store" | "format" | "commits"
    >,
    byteFile: string,
  ): void {
    const set = (key: Deno.KvKey, value: Uint8Array, encoding: number) =>
      this.#addRecord.run(encodeKey(key), value, encoding, records, -1);
    set(keys.byteFile(), sealValue(byteFile) as Uint8Array, BYTES);
    set(keys.storeId(), sealValue(store) as Uint8Array, BYTES);
    const counter = new Uint8Array(8);
    new DataView(counter.buffer).setBigUint64(0, BigInt(format), true);
    set(keys.format(), counter, COUNTER);
    setLastCommit(this.#records, records);
    setLastCommit(this.#bytes, bytes);
  }

  [Symbol.dispose](): void {
    for (const sqlite of [this.#records, this.#bytes]) {
      if (this.#isInTransaction) sqlite.exec("ROLLBACK");
      sqlite.exec("PRAGMA journal_mode = DELETE");
      sqlite.close();
    }
  }
}

function open(path: string): DatabaseSync {
  const sqlite = new DatabaseSync(path);
  // Rows are mostly added at the end of the file, so a journal is short. What a process has committed survives its death;
  // the files are synced once, before they become the store.
  sqlite.exec(
    "PRAGMA journal_mode = TRUNCATE; PRAGMA synchronous = OFF; PRAGMA cache_size = -1000",
  );
  return sqlite;
}

/** Later commits get greater numbers. */
function setLastCommit(sqlite: DatabaseSync, number: number): void {
  sqlite.prepare("INSERT OR REPLACE INTO data_version (k, version) VALUES (0, ?)").run(number);
}

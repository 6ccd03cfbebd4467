/**
 * Joins the two files of a store into one, which is what a backup is.
 *
 * @module
 */
import type { DatabaseSync } from "node:sqlite";
import { withSqlite } from "../disk/sqlite.ts";
import { requireByteFile } from "../disk/store_files.ts";
import { keys } from "../engine/keys.ts";
import { BYTE_KINDS } from "../engine/records/kinds.ts";
import { afterKey, encodeKey, KV_COLUMNS, type KvRow, prefixRange } from "../reads/kv_encoding.ts";
import { namedByteFile } from "../verify/snapshot.ts";

/** Chunks that are added to the copy, and flushed, in one step. */
const CHUNKS_AT_ONCE = 32;

/**
 * Adds chunks and checksums to a copy of the records, which then names no other file.
 *
 * @param bytes Reads the file with the chunks.
 * @param target The copy.
 * @param onBatch Receives how many entries were added so far.
 */
export function addBytes(
  bytes: DatabaseSync,
  target: string,
  onBatch: (entries: number) => void = () => {},
): void {
  withSqlite(target, (sqlite) => {
    // What an interrupted copy leaves is removed, so no journal is needed. Each commit is flushed.
    sqlite.exec(
      "PRAGMA journal_mode = DELETE; PRAGMA journal_mode = OFF; PRAGMA synchronous = FULL",
    );
    sqlite.prepare("DELETE FROM kv WHERE k = ?").run(encodeKey(keys.byteFile()));
    // A separation that was interrupted leaves entries in both files, which are the same.
    const add = sqlite.prepare(
      `INSERT OR IGNORE INTO kv (${KV_COLUMNS}) VALUES (${KV_COLUMNS.replaceAll(/\w+/g, "?")})`,
    );
    let entries = 0;
    for (const rows of byteRows(bytes)) {
      sqlite.exec("BEGIN");
      for (const { k, v, v_encoding, version } of rows) add.run(k, v, v_encoding, version);
      sqlite.exec("COMMIT");
      onBatch(entries += rows.length);
    }
  });
}

/** Yields all chunks and checksums as they are in the file. */
function* byteRows(bytes: DatabaseSync): Generator<KvRow[]> {
  const next = bytes.prepare(
    `SELECT ${KV_COLUMNS} FROM kv WHERE k >= ? AND k < ? ORDER BY k LIMIT ?`,
  );
  for (const kind of BYTE_KINDS) {
    let [from, end] = prefixRange([kind]);
    while (true) {
      const rows = next.all(from, end, CHUNKS_AT_ONCE) as unknown as KvRow[];
      const last = rows.at(-1);
      if (last === undefined) break;
      yield rows;
      from = afterKey(last.k);
    }
  }
}

/**
 * Returns the path of the file with the chunks that the records of a store name; `undefined` if they name none, or if
 * they cannot be read.
 *
 * @param records The file with the records.
 * @param path Where the records are used, if `records` is a copy.
 */
export function byteFileOf(records: string, path = records): string | undefined {
  try {
    return withSqlite(records, (sqlite) => namedByteFile(path, sqlite));
  } catch {
    // No store, or a damaged one, which others report.
    return undefined;
  }
}

/**
 * Adds the chunks of a store to a copy of its records.
 *
 * @param path The file with the chunks; no server may have it open.
 * @throws {Error} if it is missing.
 */
export function joinByteFile(path: string, copy: string): void {
  requireByteFile(path);
  withSqlite(path, (bytes) => addBytes(bytes, copy));
}

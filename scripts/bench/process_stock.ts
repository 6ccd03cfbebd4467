/**
 * A process that multiplies the only file of a store, directly in its database: uploading millions would take hours.
 *
 * @module
 */

import type { DatabaseSync } from "node:sqlite";
import { withSqlite } from "../../src/store/disk/sqlite.ts";

/** The input of the process. */
export interface StockInput {
  /** The store's file. It holds a single file, whose name is `nameOf(FIRST)`, and no server runs on it. */
  path: string;
  /** How many files there are to be. */
  files: number;
}

/** The number of the first file. All numbers have as many digits, so that all keys are equally long. */
export const FIRST = 10_000_000;

/** The most files: their numbers would get another digit. */
export const MAX_FILES = 9 * FIRST;

/** What the names are made of in requests; see `Load`. */
export const NAME_PATTERN = "d{d}/file-{n}";

/** The name of the file with a number, in one of ten directories. */
export function nameOf(number: number): string {
  return NAME_PATTERN.replace("{d}", String(number % 10)).replace("{n}", String(number));
}

/** An entry of the store, as Deno KV keeps it. */
interface Entry {
  k: Uint8Array;
  v: Uint8Array;
  v_encoding: number;
  version: number;
}

/** The encoding of `Deno.KvU64`: eight bytes, the lowest first. */
const COUNTER = 2;

if (import.meta.main) {
  const { path, files }: StockInput = JSON.parse(Deno.args[0] ?? "");
  withSqlite(path, (sqlite) => multiply(sqlite, files));
  Deno.stdout.writeSync(new TextEncoder().encode(JSON.stringify(files)));
}

/** Copies all entries that have the name of the first file in their key, and corrects the counters. */
export function multiply(sqlite: DatabaseSync, files: number): void {
  if (files > MAX_FILES) throw new RangeError(`${files} files are more than ${MAX_FILES}`);
  // A crash leaves nothing that is needed: the whole store is temporary.
  sqlite.exec("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA cache_size = -200000");
  const entries = sqlite.prepare("SELECT k, v, v_encoding, version FROM kv")
    .all() as unknown as Entry[];
  const insert = sqlite.prepare("INSERT INTO kv (k, v, v_encoding, version) VALUES (?, ?, ?, ?)");
  const copied = entries.flatMap((entry) => {
    const at = positionOf(entry.k, nameOf(FIRST));
    return at < 0 ? [] : [{ ...entry, at }];
  });
  sqlite.exec("BEGIN");
  const name = new Uint8Array(nameOf(FIRST).length);
  const encoder = new TextEncoder();
  for (let number = FIRST + 1; number < FIRST + files; number++) {
    encoder.encodeInto(nameOf(number), name);
    for (const { k, v, v_encoding, version, at } of copied) {
      k.set(name, at);
      insert.run(k, v, v_encoding, version);
    }
  }
  multiplyCounters(sqlite, entries, files);
  sqlite.exec("COMMIT; PRAGMA journal_mode = WAL");
}

function multiplyCounters(sqlite: DatabaseSync, entries: readonly Entry[], files: number): void {
  const update = sqlite.prepare("UPDATE kv SET v = ? WHERE k = ?");
  for (const { k, v, v_encoding } of entries) {
    if (v_encoding !== COUNTER) continue;
    const counter = new DataView(v.buffer, v.byteOffset);
    counter.setBigUint64(0, counter.getBigUint64(0, true) * BigInt(files), true);
    update.run(v, k);
  }
}

/** Where bytes contain an ASCII text; -1 where they do not. */
function positionOf(bytes: Uint8Array, text: string): number {
  return new TextDecoder("latin1").decode(bytes).indexOf(text);
}

/** The bytes of the first file's name, and of all values under it: its record and its content. */
export function rawSize(path: string): number {
  return withSqlite(path, (sqlite) => {
    const { size } = sqlite
      .prepare("SELECT sum(length(v)) AS size FROM kv WHERE instr(k, ?)")
      .get(new TextEncoder().encode(nameOf(FIRST))) ?? {};
    return nameOf(FIRST).length + Number(size);
  });
}

/**
 * A process that multiplies the only file of a store, directly in its database: uploading millions would take hours.
 *
 * @module
 */

import type { DatabaseSync } from "node:sqlite";
import { crc32 } from "node:zlib";
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

/** Characters of a version. */
const VERSION_LENGTH = 26;

/** The version in a record: JSON, or what V8 serialized in stores of the first format. */
// deno-lint-ignore no-control-regex -- the length of the text is a control character
const VERSION_FIELD = /version"(?:\x1a|:")([0-9A-Z]{26})/;

/** Bytes of the CRC-32 before the JSON of a record. */
const CRC_LENGTH = 4;

/** The encoding of `Deno.KvU64`: eight bytes, the lowest first. */
const COUNTER = 2;

if (import.meta.main) {
  const { path, files }: StockInput = JSON.parse(Deno.args[0] ?? "");
  withSqlite(path, (sqlite) => multiply(sqlite, files));
  Deno.stdout.writeSync(new TextEncoder().encode(JSON.stringify(files)));
}

/** The bytes of a text, and where it begins in the key and in the value of an entry; negative if it does not occur. */
interface Occurrence {
  text: Uint8Array;
  inKey: number;
  inValue: number;
}

/** Copies the record and the bytes of the first file under other names and versions, and corrects the counters. */
export function multiply(sqlite: DatabaseSync, files: number): void {
  if (files > MAX_FILES) throw new RangeError(`${files} files are more than ${MAX_FILES}`);
  // A crash leaves nothing that is needed: the whole store is temporary.
  sqlite.exec("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA cache_size = -200000");
  const entries = sqlite.prepare("SELECT k, v, v_encoding, version FROM kv")
    .all() as unknown as Entry[];
  const insert = sqlite.prepare("INSERT INTO kv (k, v, v_encoding, version) VALUES (?, ?, ?, ?)");
  const name = new Uint8Array(nameOf(FIRST).length);
  const fileVersion = new Uint8Array(VERSION_LENGTH);
  const texts = [[nameOf(FIRST), name], [firstVersion(entries), fileVersion]] as const;
  const copied = entries.flatMap(({ k, v, v_encoding, version }) => {
    const places = texts.map(([first, text]): Occurrence => ({
      text,
      inKey: positionOf(k, first),
      inValue: positionOf(v, first),
    }));
    const isOfFile = places.some(({ inKey }) => inKey >= 0);
    return isOfFile ? [{ k, v, v_encoding, version, places, crc: checksumIn(v) }] : [];
  });
  sqlite.exec("BEGIN");
  const encoder = new TextEncoder();
  for (let number = FIRST + 1; number < FIRST + files; number++) {
    encoder.encodeInto(nameOf(number), name);
    encoder.encodeInto(versionOf(number), fileVersion);
    for (const { k, v, v_encoding, version, places, crc } of copied) {
      for (const { text, inKey, inValue } of places) {
        if (inKey >= 0) k.set(text, inKey);
        if (inValue >= 0) v.set(text, inValue);
      }
      crc?.setUint32(0, crc32(v.subarray(CRC_LENGTH)));
      insert.run(k, v, v_encoding, version);
    }
  }
  multiplyCounters(sqlite, entries, files);
  sqlite.exec("COMMIT; PRAGMA journal_mode = WAL");
}

function multiplyCounters(sqlite: DatabaseSync, entries: readonly Entry[], files: number): void {
  const update = sqlite.prepare("UPDATE kv SET v = ? WHERE k = ?");
  for (const { k, v, v_encoding } of entries) {
    if (v_encoding !== COUNTER || positionOf(k, "format") >= 0) continue;
    const counter = new DataView(v.buffer, v.byteOffset);
    counter.setBigUint64(0, counter.getBigUint64(0, true) * BigInt(files), true);
    update.run(v, k);
  }
}

/** Returns the checksum at the beginning of a record; `undefined` for a value without one. */
function checksumIn(value: Uint8Array): DataView | undefined {
  if (value.byteLength <= CRC_LENGTH) return undefined;
  const view = new DataView(value.buffer, value.byteOffset);
  return view.getUint32(0) === crc32(value.subarray(CRC_LENGTH)) ? view : undefined;
}

/** Where bytes contain an ASCII text; -1 where they do not. */
function positionOf(bytes: Uint8Array, text: string): number {
  return new TextDecoder("latin1").decode(bytes).indexOf(text);
}

/** The version of the first file, which its bytes lie under, from the serialized record. */
function firstVersion(entries: readonly Pick<Entry, "k" | "v">[]): string {
  for (const { k, v } of entries) {
    if (positionOf(k, nameOf(FIRST)) < 0) continue;
    const [, version] = VERSION_FIELD.exec(new TextDecoder("latin1").decode(v)) ?? [];
    if (version !== undefined) return version;
  }
  throw new Error("The store has no record of the first file");
}

/** A version for the copy with a number. Versions of the server are later. */
function versionOf(number: number): string {
  return String(number).padStart(VERSION_LENGTH, "0");
}

/** The bytes of the first file's name, and of its record and its content. */
export function rawSize(path: string): number {
  return withSqlite(path, (sqlite) => {
    const name = new TextEncoder().encode(nameOf(FIRST));
    const named = sqlite.prepare("SELECT k, v FROM kv WHERE instr(k, ?)").all(name);
    const version = new TextEncoder().encode(firstVersion(named as unknown as Entry[]));
    const { size } = sqlite
      .prepare("SELECT sum(length(v)) AS size FROM kv WHERE instr(k, ?) OR instr(k, ?)")
      .get(name, version) ?? {};
    return nameOf(FIRST).length + Number(size);
  });
}

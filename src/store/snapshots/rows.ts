/**
 * The rows of a store as a repository has them, in groups, and the order of all groups in its trees.
 *
 * @module
 */
import { concat } from "@std/bytes/concat";
import type { ByteReader, ByteWriter } from "../../repository/bytes.ts";
import type { KvRow } from "../reads/kv_encoding.ts";

/** A row of the table in which Deno KV keeps its entries, with the time at which it drops the entry. */
export interface StoredRow extends KvRow {
  /** Milliseconds since 1970; -1 for never. */
  expiration_ms: number;
}

export const ROW_COLUMNS = "k, v, v_encoding, version, expiration_ms";

/** The parts of a tree, in their order. Each is the first byte of its keys. */
export const SECTIONS = {
  records: 0,
  /** The checksums in the file of the chunks, and everything else that is no chunk. */
  checksums: 1,
  chunks: 2,
  /** The files beside the store that belong to its backups. */
  keptFiles: 3,
} as const;

export type Section = (typeof SECTIONS)[keyof typeof SECTIONS];

export function treeKey(section: Section, key: Uint8Array): Uint8Array<ArrayBuffer> {
  return concat([Uint8Array.of(section), key]);
}

export function writeRow(writer: ByteWriter, row: StoredRow): void {
  writer.sized(row.k);
  writer.sized(row.v);
  writer.byte(row.v_encoding);
  writer.number(row.version);
  writer.number(row.expiration_ms + 1);
}

/** Yields the rows of a group. @throws {BadFormat} */
export function* readRows(reader: ByteReader): Generator<StoredRow> {
  while (!reader.isAtEnd) {
    yield {
      k: reader.sized(),
      v: reader.sized(),
      v_encoding: reader.byte(),
      version: reader.number(),
      expiration_ms: reader.number() - 1,
    };
  }
}

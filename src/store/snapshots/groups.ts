/**
 * The groups of a store at one moment: what a snapshot consists of.
 *
 * - **Records** are grouped by some 2 KiB. Where a group begins depends on the first key alone, so a change alters one
 *   group, and the fingerprint of a group is that of its rows.
 * - **Chunks** are grouped by 8 of a version. They never change, and ids of versions are never used again, so the
 *   fingerprint tells which chunks a group has, and a known group is not even read.
 *
 * @module
 */
import type { DatabaseSync } from "node:sqlite";
import { ByteWriter } from "../../repository/bytes.ts";
import type { SentGroup } from "../../repository/group_sender.ts";
import { fingerprintOf, keyHash } from "../../repository/tree.ts";
import { KIB } from "../../rules/units.ts";
import { keys, prefixes } from "../engine/keys.ts";
import { CHUNK_SIZE } from "../engine/records.ts";
import { decodeKey, encodeKey, prefixRange } from "../reads/kv_encoding.ts";
import { rowsOf, type Snapshot } from "../verify/snapshot.ts";
import { ROW_COLUMNS, type Section, SECTIONS, type StoredRow, treeKey, writeRow } from "./rows.ts";

type Bytes = Uint8Array<ArrayBuffer>;

/** The least bytes of a group of records, half of what it has on average; and the most but for the last row. */
const MIN_GROUP_SIZE = 1 * KIB;
const MAX_GROUP_SIZE = 64 * KIB;

/** Rows that one query reads: those of a group of chunks, and of records up to 1 MiB. */
const ROWS_AT_ONCE = 16;

/** Bytes of a value whose memory is released at once, and not by the garbage collector. */
const LARGE_VALUE = 1 * KIB;

export const CHUNKS_PER_GROUP = 8;

/** A part of the store that is stored as a whole. */
export interface Group extends SentGroup {
  /** About how many bytes it has. */
  size: number;
}

/** What looks at the rows of a store on their way. */
export interface RowObserver {
  /** Receives each row of the records. */
  onRow: (row: StoredRow) => void;
  /** Receives each chunk that is written. @param group The key of its group. */
  onChunk: (group: Bytes, version: string, index: number, chunk: Bytes) => void;
  /** Receives each version that has chunks, in the order of the versions. @param end The index after its last chunk. */
  onVersion: (version: string, first: number, end: number) => void;
  /** Receives a group that was written and lacks chunks between its first and its last. */
  onGap: (group: Bytes, version: string) => void;
}

/** Yields all groups of a store in the order of their keys. */
export function* groupsOf({ records, bytes }: Snapshot, observer: RowObserver): Generator<Group> {
  yield* rowGroups(SECTIONS.records, records.sqlite, [ALL], observer.onRow);
  if (bytes === records) return;
  const [start, end] = prefixRange(prefixes.all("chunk"));
  yield* rowGroups(SECTIONS.checksums, bytes.sqlite, [[ALL[0], start], [end, ALL[1]]]);
  yield* chunkGroups(bytes.sqlite, observer);
}

/** All keys: 0xff begins none. */
const ALL: readonly [start: Bytes, end: Bytes] = [Uint8Array.of(0), Uint8Array.of(0xff)];

function* rowGroups(
  section: Section,
  sqlite: DatabaseSync,
  ranges: readonly (readonly [start: Bytes, end: Bytes])[],
  onRow: (row: StoredRow) => void = () => {},
): Generator<Group> {
  const select = sqlite.prepare(
    `SELECT ${ROW_COLUMNS} FROM kv WHERE k >= ? AND k < ? ORDER BY k LIMIT ?`,
  );
  const writer = new ByteWriter(2 * MAX_GROUP_SIZE);
  let first: Bytes | undefined;
  const end = function* (): Generator<Group> {
    if (first === undefined) return;
    const rows = writer.written;
    yield {
      key: treeKey(section, first),
      fingerprint: fingerprintOf(rows),
      size: rows.byteLength,
      isCompressed: true,
      write: (to) => to.bytes(rows),
    };
    writer.truncate(0);
    first = undefined;
  };
  for (const range of ranges) {
    for (const row of rowsOf([select], range, ROWS_AT_ONCE) as Iterable<StoredRow>) {
      const { length } = writer;
      if (length >= MAX_GROUP_SIZE || length >= MIN_GROUP_SIZE && beginsGroup(row)) yield* end();
      first ??= row.k;
      writeRow(writer, row);
      onRow(row);
      if (row.v.byteLength >= LARGE_VALUE) row.v.buffer.transfer(0);
    }
  }
  yield* end();
}

/** A row begins a group the more often the larger it is, so groups have the same size on average. */
function beginsGroup({ k, v }: StoredRow): boolean {
  return keyHash(k) < (k.byteLength + v.byteLength) / MIN_GROUP_SIZE * 2 ** 32;
}

function* chunkGroups(
  sqlite: DatabaseSync,
  { onChunk, onVersion, onGap }: RowObserver,
): Generator<Group> {
  const range = "FROM kv WHERE k >= ? AND k < ? ORDER BY k";
  const next = sqlite.prepare(`SELECT k ${range} LIMIT 1`);
  const last = sqlite.prepare(`SELECT k ${range} DESC LIMIT 1`);
  const select = sqlite.prepare(`SELECT ${ROW_COLUMNS} ${range} LIMIT ?`);
  let [from, end] = prefixRange(prefixes.all("chunk"));
  while (true) {
    const found = placeOf(next.get(from, end));
    if (found === undefined) return;
    const { version, index: first } = found;
    const ofVersion = prefixRange(prefixes.all("chunk", version));
    const lastIndex = placeOf(last.get(...ofVersion))?.index ?? first;
    from = ofVersion[1];
    onVersion(version, first, lastIndex + 1);
    for (let base = first - first % CHUNKS_PER_GROUP; base <= lastIndex; base += CHUNKS_PER_GROUP) {
      const start = Math.max(first, base);
      const stop = Math.min(lastIndex + 1, base + CHUNKS_PER_GROUP);
      const key = encodeKey(keys.chunk(version, base));
      const group = treeKey(SECTIONS.chunks, key);
      yield {
        key: group,
        fingerprint: fingerprintOf(key, encodeKey([start, stop])),
        size: (stop - start) * CHUNK_SIZE,
        isCompressed: false,
        write(to) {
          const keyOf = (index: number) => encodeKey(keys.chunk(version, index));
          const rows = rowsOf([select], [keyOf(start), keyOf(stop)], ROWS_AT_ONCE);
          let missing = stop - start;
          for (const row of rows as Iterable<StoredRow>) {
            missing--;
            onChunk(group, version, placeOf(row)?.index ?? 0, row.v);
            writeRow(to, row);
            row.v.buffer.transfer(0);
          }
          if (missing > 0) onGap(group, version);
        },
      };
    }
  }
}

/** Returns the place of a chunk by its key. @throws {TypeError} for a key of another form. */
function placeOf(
  row: { k?: unknown } | undefined,
): { version: string; index: number } | undefined {
  if (row === undefined) return undefined;
  const [, version, index] = decodeKey(row.k as Bytes) ?? [];
  if (typeof version === "string" && typeof index === "number") return { version, index };
  throw new TypeError("The store has a chunk with a key of an unknown form");
}

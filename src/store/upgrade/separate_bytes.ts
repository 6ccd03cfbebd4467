import { dirname } from "@std/path/dirname";
import { formatBytes, MIB, SECOND } from "../../rules/units.ts";
import { withSqlite } from "../disk/sqlite.ts";
import { freeBytesOf } from "../disk/volume.ts";
import type { Database } from "../engine/database.ts";
import { BYTE_KINDS } from "../engine/records/kinds.ts";
import { Operation } from "../engine/operation.ts";
import { decodeKey, type KvRow, prefixRange } from "../reads/kv_encoding.ts";

/** Bytes that are moved before their space is given back: so many are on the disk twice. */
const STEP_BYTES = 64 * MIB;

/** Entries that are read at once: what one commit can write. */
const READ_BATCH = 12;

/** Milliseconds between two reports of the progress. */
const REPORT_INTERVAL = 10 * SECOND;

interface SeparateOptions {
  /** Receives the progress, in sentences. */
  onNotice: (text: string) => void;
  /** Bytes of the disk that must stay free. */
  reserve: number;
}

interface Entry {
  key: Deno.KvKey;
  bytes: Uint8Array;
}

/**
 * Moves the chunks and checksums among the records of a store to the file that they have beside it. A store has them
 * there that an older version made, or that was restored from a backup. No other process may use the store.
 *
 * Entries are deleted after their copies are on the disk, so an interrupted move goes on where it stopped. The last
 * entries come first: their pages are mostly at the end of the file, which can be cut off without moving others.
 *
 * @throws {Error} if the disk has too little space. What was moved stays moved.
 */
export async function separateBytes(
  db: Database,
  { onNotice, reserve }: SeparateOptions,
): Promise<void> {
  const path = db.logs[0]?.path;
  if (path === undefined || !db.bytes.isSeparate) return;
  let moved: number | undefined;
  let reported = performance.now();
  while (hasBytes(path)) {
    await requireSpaceToSeparate(db, reserve);
    if (moved === undefined) onNotice("The bytes of files move to a file of their own");
    moved = (moved ?? 0) + await moveStep(db, path);
    // `get` would free a single page.
    withSqlite(path, (sqlite) => sqlite.prepare("PRAGMA incremental_vacuum").all());
    if (performance.now() - reported < REPORT_INTERVAL) continue;
    reported = performance.now();
    onNotice(`${formatBytes(moved)} of files have moved`);
  }
  if (moved !== undefined) onNotice(`All bytes of files have moved: ${formatBytes(moved)}`);
}

/** @throws {Error} if bytes are among the records, and to move them less than the reserve would stay free. */
export async function requireSpaceToSeparate(db: Database, reserve: number): Promise<void> {
  const path = db.logs[0]?.path;
  if (path === undefined || !hasBytes(path)) return;
  const free = await freeBytesOf(dirname(path))();
  if (free === undefined || free - STEP_BYTES >= reserve) return;
  const needed = formatBytes(reserve + STEP_BYTES);
  throw new Error(
    `its bytes move to a file of their own, for which the disk needs ${needed} free and has ` +
      `${formatBytes(free)}; free some space and start again`,
  );
}

/** Returns whether chunks or checksums are among the records. */
function hasBytes(path: string): boolean {
  return BYTE_KINDS.some((kind) => lastOf(path, kind, 1).length > 0);
}

/** Moves so much that its space is worth giving back, and returns its bytes. */
async function moveStep(db: Database, path: string): Promise<number> {
  let moved = 0;
  for (const kind of [...BYTE_KINDS].reverse()) {
    while (moved < STEP_BYTES) {
      const batch = lastOf(path, kind, READ_BATCH);
      if (batch.length === 0) break;
      moved += await moveBatch(db, batch);
    }
  }
  return moved;
}

/**
 * Returns the last entries of a kind with the bytes that the file has of them, also if Deno KV could not decode those:
 * the checks of the files report such damage.
 */
function lastOf(path: string, kind: string, limit: number): Entry[] {
  const rows = withSqlite(
    path,
    (sqlite) =>
      sqlite.prepare("SELECT k, v FROM kv WHERE k >= ? AND k < ? ORDER BY k DESC LIMIT ?")
        .all(...prefixRange([kind]), limit),
  ) as Pick<KvRow, "k" | "v">[];
  return rows.map(({ k, v }) => {
    const key = decodeKey(k);
    if (key === undefined) throw new TypeError("The store has a key of an unknown form");
    return { key, bytes: v };
  });
}

/** Returns the bytes that were moved. */
async function moveBatch(db: Database, batch: readonly Entry[]): Promise<number> {
  const copies = new Operation();
  const deletions = new Operation();
  for (const { key, bytes } of batch) {
    copies.set(key, bytes);
    deletions.delete(key);
  }
  await db.commitBytes(copies);
  await db.commitBulk(deletions);
  return batch.reduce((sum, { bytes }) => sum + bytes.byteLength, 0);
}

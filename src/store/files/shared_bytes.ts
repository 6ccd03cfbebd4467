/**
 * Bytes and the records that use them. A record owns its bytes alone until it is copied; from then on an entry counts the
 * records that share them, and every one of these records is marked. Bytes of the last record become garbage.
 *
 * A copy adds a user in the operation that checks the copied record, so the bytes have a user at that moment. A record
 * that is replaced or deleted leaves a journal entry, which stands for its use until the garbage collector subtracts it
 * from the count, one entry after the other.
 *
 * @module
 */
import type { Database } from "../engine/database.ts";
import { StoreUnavailable, UnreadableEntry } from "../engine/errors.ts";
import { keys } from "../engine/keys.ts";
import { Operation } from "../engine/operation.ts";
import {
  bytesVersion,
  type FileRecord,
  type Garbage,
  type Place,
  type StoredBytes,
  storedBytes,
  thumbnailBytes,
} from "../engine/records.ts";
import { MAX_TRANSACTION_TRIES } from "../engine/transact.ts";
import { chunkCount } from "../bytes/chunks.ts";
import { isUnreadable } from "../reads/record_codec.ts";
import { dropExpiry } from "./expiry.ts";
import { addGarbage, GARBAGE_GRACE } from "../bytes/garbage.ts";

/** The journal entry of a record that no longer uses shared bytes. */
export type ReleasedReference = Deno.KvEntry<Garbage & { kind: "reference" }>;

/**
 * Adds a user of the bytes of a file that the operation checks. Returns the record of the new user.
 *
 * @param key Of the file's record, which the first copy marks.
 */
export function shareBytes(
  operation: Operation,
  key: Deno.KvKey,
  source: FileRecord,
): FileRecord {
  const marked = markShared(source, () => true);
  const used = storedBytes(source);
  if (used.some(({ shared }) => shared === undefined)) operation.set(key, marked);
  for (const bytes of used) {
    operation.sum(keys.references(bytesVersion(bytes)), bytes.shared === undefined ? 2 : 1);
  }
  return { ...marked, bytes: bytesVersion(source) };
}

/** Returns a record with a mark on those of its bytes that are shared. */
export function markShared(
  record: FileRecord,
  isShared: (bytes: StoredBytes) => boolean,
): FileRecord {
  const { thumbnail } = record;
  const marked: FileRecord = isShared(record) ? { ...record, shared: true } : record;
  if (thumbnail === undefined || !isShared(thumbnailBytes(thumbnail))) return marked;
  return { ...marked, thumbnail: { ...thumbnail, shared: true } };
}

/**
 * Adds that a record no longer uses its bytes, and those of its thumbnail. Chunks stay for readers that have already
 * started; a content is deleted at once, as it is read together with its record.
 */
export function releaseBytes(operation: Operation, place: Place, record: FileRecord): void {
  for (const bytes of storedBytes(record)) release(operation, place, bytes);
}

/** Adds that a record no longer uses some bytes. */
export function release(operation: Operation, place: Place, record: StoredBytes): void {
  const { project, drive, name } = place;
  const { layout, size } = record;
  const due = Date.now() + GARBAGE_GRACE;
  if (record.shared !== undefined) {
    const garbage = { project, drive, name, version: bytesVersion(record), size, layout };
    addGarbage(operation, { kind: "reference", ...garbage }, due);
    return;
  }
  const garbage = bytesGarbage(place, record);
  if (garbage !== undefined) addGarbage(operation, garbage, due);
  else operation.delete(keys.content(bytesVersion(record)));
}

/** Returns the garbage that the bytes of a record become; `undefined` for a content. */
function bytesGarbage(
  { project, drive, name }: Place,
  record: StoredBytes,
): Garbage | undefined {
  const { layout, size } = record;
  const garbage = { project, drive, name, version: bytesVersion(record) };
  switch (layout.kind) {
    case "inline":
      return undefined;
    case "chunks":
      return { kind: "chunks", ...garbage, chunks: chunkCount(size) };
    case "manifest":
      return { kind: "manifest", ...garbage };
  }
}

/** Adds that a file no longer has the version of this record. */
export function discardVersion(operation: Operation, place: Place, record: FileRecord): void {
  if (record.sha256 === undefined) operation.delete(keys.undigested(place));
  dropExpiry(operation, record);
  releaseBytes(operation, place, record);
}

/**
 * Subtracts a released reference from the count. If it was the last one, its journal entry becomes that of the bytes,
 * which is returned. They may be deleted at once: their readers had the time of the reference's entry.
 */
export async function dropReference(
  db: Database,
  { key, value, versionstamp }: ReleasedReference,
): Promise<Garbage | undefined> {
  const { version, size, layout } = value;
  for (let tries = 0; tries < MAX_TRANSACTION_TRIES; tries++) {
    const [entry, references] = await db.reads.get<[Garbage, Deno.KvU64]>([
      key,
      keys.references(version),
    ]);
    // Another process was faster.
    if (entry.versionstamp !== versionstamp) return undefined;
    const operation = new Operation()
      .check(key, versionstamp)
      .unchanged(references);
    // Whether others use the bytes is not known: they stay until the count is repaired.
    if (isUnreadable(references)) throw new UnreadableEntry(references.key, "it is no counter");
    const isLast = (references.value?.value ?? 0n) <= 1n;
    const garbage = isLast ? bytesGarbage(value, { version, size, layout }) : undefined;
    if (!isLast) operation.delete(key).sum(references.key, -1);
    else operation.delete(references.key);
    if (garbage !== undefined) operation.set(key, garbage);
    else if (isLast) operation.delete(key).delete(keys.content(version));
    if ((await db.commit(operation)).ok) return garbage;
  }
  throw new StoreUnavailable(
    "The bytes of a copy could not be released: their users kept changing",
  );
}

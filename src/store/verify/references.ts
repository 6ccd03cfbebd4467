/**
 * The counts of the records that share bytes, and the marks of these records.
 *
 * @module
 */
import { keys, prefixes } from "../engine/keys.ts";
import { Operation } from "../engine/operation.ts";
import {
  bytesVersion,
  type FileRecord,
  fileText,
  type Place,
  type StoredBytes,
  storedBytes,
  type TrashRecord,
} from "../engine/records.ts";
import { markShared } from "../files/shared_bytes.ts";
import { correctCounter, counterValue } from "./counters.ts";
import type { VersionOwners } from "./ownership.ts";
import { deleteUnchanged, placeOf, type Problem, repairable } from "./problem.ts";
import type { Snapshot, SnapshotEntry } from "./snapshot.ts";

/** Yields wrong counts, counts of bytes that are not shared, and files whose bytes are shared although they lack the mark. */
export function* referenceProblems(snapshot: Snapshot, owners: VersionOwners): Generator<Problem> {
  let hasUnmarked = false;
  for (const { version, users, marked } of owners.shared()) {
    hasUnmarked ||= marked < users;
    const key = keys.references(version);
    const entry = snapshot.get<unknown>(key);
    const counted = counterValue(entry);
    if (counted !== BigInt(users)) yield wrongCount(snapshot, version, entry, BigInt(users));
  }
  for (const entry of snapshot.list<unknown>(prefixes.all("references"))) {
    const { users, marked } = owners.of(String(entry.key[1])) ?? { users: 0, marked: 0 };
    if (users < 2 && marked === 0) yield unusedCount(entry);
  }
  if (hasUnmarked) yield* unmarkedFiles(snapshot, owners);
}

function wrongCount(
  snapshot: Snapshot,
  version: string,
  entry: SnapshotEntry<unknown> | undefined,
  users: bigint,
): Problem {
  const key = keys.references(version);
  const counted = counterValue(entry);
  const text = counted === undefined
    ? "have an invalid count"
    : `are counted as used ${counted} times`;
  const correction = new Operation().check(key, entry?.versionstamp ?? null);
  correctCounter(correction, snapshot, key, users);
  const message = `The bytes of version ${version} ${text}, but ${users} files use them`;
  return repairable({ kind: "references", message }, correction, "The count was corrected");
}

function unusedCount(entry: SnapshotEntry): Problem {
  const message = `There is a count of the files that share version ${entry.key[1]}, but none does`;
  const removal = deleteUnchanged(entry);
  return repairable({ kind: "references", message }, removal, "The count was removed");
}

/** Yields files that would delete the bytes of others when they are deleted. */
function* unmarkedFiles(snapshot: Snapshot, owners: VersionOwners): Generator<Problem> {
  const isShared = (bytes: StoredBytes) => (owners.of(bytesVersion(bytes))?.users ?? 0) > 1;
  const isWrong = (record: FileRecord) =>
    storedBytes(record).some((bytes) => bytes.shared === undefined && isShared(bytes));
  for (const entry of snapshot.list<FileRecord>(prefixes.all("file"))) {
    if (!isWrong(entry.value)) continue;
    yield unmarked(placeOf(entry.key), entry, markShared(entry.value, isShared));
  }
  for (const entry of snapshot.list<TrashRecord>(prefixes.all("trash"))) {
    const { name, record } = entry.value;
    if (!isWrong(record)) continue;
    const value: TrashRecord = { ...entry.value, record: markShared(record, isShared) };
    yield unmarked({ ...placeOf(entry.key), name }, entry, value);
  }
}

function unmarked(
  place: Place,
  { key, versionstamp }: SnapshotEntry,
  marked: FileRecord | TrashRecord,
): Problem {
  const operation = new Operation().check(key, versionstamp).set(key, marked);
  const message = `The file ${fileText(place)} shares its bytes with another, but is not marked so`;
  return repairable({ kind: "references", message, ...place }, operation, "It was marked");
}

/**
 * The index of files that expire. Without its entry a file would be absent after its deadline, but never be deleted.
 *
 * @module
 */
import { keys, prefixes } from "../engine/keys.ts";
import { Operation } from "../engine/operation.ts";
import { type ExpiryRecord, type FileRecord, fileText, type Place } from "../engine/records.ts";
import { isIndexedBy, setExpiry } from "../files/expiry.ts";
import { deleteUnchanged, type Problem, repairWith } from "./problem.ts";
import type { Snapshot, SnapshotEntry } from "./snapshot.ts";

/** Yields the problem of a file with a deadline that the index lacks. */
export function* unindexedProblem(
  snapshot: Snapshot,
  place: Place,
  { key, value, versionstamp }: SnapshotEntry<FileRecord>,
): Generator<Problem> {
  const { expires, version } = value;
  if (expires === undefined || snapshot.has(keys.expiry(expires, version))) return;
  const operation = new Operation().check(key, versionstamp);
  setExpiry(operation, place, value);
  yield {
    kind: "index",
    message: `The file ${fileText(place)} expires, but would never be deleted`,
    ...place,
    repair: repairWith(operation, "It is deleted at its deadline"),
  };
}

/** Yields the entries of the index without such a file, or with another size than the file's. */
export function* expiryProblems(snapshot: Snapshot): Generator<Problem> {
  for (const entry of snapshot.list<ExpiryRecord>(prefixes.all("expiry"))) {
    const { project, drive, name, size } = entry.value;
    const place = { project, drive, name };
    const file = snapshot.get<FileRecord>(keys.file(place));
    const isIndexed = isIndexedBy(file?.value ?? null, entry.key);
    if (isIndexed && file?.value.size === size) continue;
    const operation = deleteUnchanged(entry).check(keys.file(place), file?.versionstamp ?? null);
    if (isIndexed && file !== undefined) setExpiry(operation, place, file.value);
    const what = isIndexed ? "with a wrong size" : "that does not expire then";
    yield {
      kind: "index",
      message: `The index of files that expire has the file ${fileText(place)} ${what}`,
      ...place,
      repair: repairWith(operation, "The entry was corrected"),
    };
  }
}

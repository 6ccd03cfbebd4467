/**
 * The trash: the bytes of its items, and their deadlines.
 *
 * @module
 */
import { keys, prefixes } from "../engine/keys.ts";
import { Operation } from "../engine/operation.ts";
import { fileText, type Garbage, type Place, type TrashRecord } from "../engine/records.ts";
import { countedBytes } from "../quotas/usage.ts";
import type { UsageCheck } from "./counters.ts";
import { type OnBytes, recordProblem } from "./files.ts";
import { placeOf, type Problem, repairable } from "./problem.ts";
import type { Snapshot, SnapshotEntry } from "./snapshot.ts";

/** Yields the damaged files in the trash. They have no repair. */
export function* trashedFileProblems(snapshot: Snapshot, onBytes: OnBytes): Generator<Problem> {
  for (const item of snapshot.list<TrashRecord>(prefixes.all("trash"))) {
    const problem = recordProblem(snapshot, item.value.record, onBytes);
    if (problem === undefined) continue;
    const place = itemPlace(item);
    const message = `The file ${fileText(place)} in the trash is damaged: ${problem}; ` +
      `restore it from a backup, or delete it from the trash`;
    yield { kind: "file", message, ...place };
  }
}

/** Yields items that are never deleted, and counts all items. */
export function* trashProblems(snapshot: Snapshot, usage: UsageCheck): Generator<Problem> {
  for (const item of snapshot.list<TrashRecord>(prefixes.all("trash"))) {
    const place = itemPlace(item);
    usage.add(place, "trash_files", 1);
    usage.add(place, "trash_bytes", countedBytes(item.value.record));
    yield* deadlineProblems(snapshot, item);
  }
}

function* deadlineProblems(
  snapshot: Snapshot,
  item: SnapshotEntry<TrashRecord>,
): Generator<Problem> {
  const { key, value, versionstamp } = item;
  const id = String(key.at(-1));
  const deadline = keys.garbage(value.expires, id);
  if (snapshot.has(deadline)) return;
  const place = itemPlace(item);
  const garbage: Garbage = { kind: "trash", ...place, id };
  const operation = new Operation().check(key, versionstamp).set(deadline, garbage);
  const message = `The file ${fileText(place)} would stay in the trash for ever`;
  yield repairable(
    { kind: "journal", message, ...place },
    operation,
    "It is deleted at its deadline",
  );
}

function itemPlace({ key, value: { name } }: SnapshotEntry<TrashRecord>): Place {
  return { ...placeOf(key), name };
}

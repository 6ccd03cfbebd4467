/**
 * Open uploads: their parts, deadlines and counters.
 *
 * @module
 */
import { keys, prefixes } from "../engine/keys.ts";
import { Operation } from "../engine/operation.ts";
import { fileText, type Garbage, type PartRecord, type UploadSession } from "../engine/records.ts";
import { correctCounter, counterValue, type UsageCheck } from "./counters.ts";
import { chunksProblem, type OnBytes } from "./files.ts";
import { garbageIdOf, OrphanCandidates, type PendingDeletions } from "./ownership.ts";
import { deleteAll, driveText, type Problem, repairable } from "./problem.ts";
import type { Snapshot, SnapshotEntry } from "./snapshot.ts";

type Session = SnapshotEntry<UploadSession>;

interface UploadPlace {
  project: string;
  drive: string;
  id: string;
}

/** Yields damaged parts, data of uploads that do not exist, and uploads that never expire. */
export function* uploadProblems(
  snapshot: Snapshot,
  deletions: PendingDeletions,
  onBytes: OnBytes,
): Generator<Problem> {
  yield* uploadsWithoutDeadline(snapshot);
  const candidates = new OrphanCandidates(snapshot);
  for (const head of snapshot.heads(prefixes.all("part"), 4)) {
    const place = placeOf(head);
    const { project, drive, id } = place;
    const session = snapshot.get<UploadSession>(keys.upload(project, drive, id));
    if (session === undefined) {
      yield* candidates.add(garbageIdOf.upload(project, drive, id), orphanParts(snapshot, place));
    } else {
      yield* damagedParts(snapshot, place, session.value.name, onBytes);
    }
  }
  for (const key of snapshot.keys(prefixes.all("parts_revision"))) {
    const place = placeOf(key);
    const { project, drive, id } = place;
    if (snapshot.has(keys.upload(project, drive, id)) || deletions.hasDrive(project, drive)) {
      continue;
    }
    yield* candidates.add(garbageIdOf.upload(project, drive, id), orphanCounter(place));
  }
  yield* candidates.flush();
}

/** Yields wrong counters of open uploads, and counts all of them and the bytes of their parts. */
export function* openUploadProblems(snapshot: Snapshot, usage: UsageCheck): Generator<Problem> {
  for (const session of snapshot.list<UploadSession>(prefixes.all("upload"))) {
    const place = placeOf(session.key);
    const { project, drive, id } = place;
    let bytes = 0;
    for (const { value } of snapshot.list<PartRecord>(prefixes.all("part", project, drive, id))) {
      bytes += value.size;
    }
    yield* uploadCounterProblems(snapshot, session, place, BigInt(bytes));
    usage.add(place, "open_bytes", bytes);
    usage.addUpload(project);
  }
}

function placeOf(key: readonly (string | number)[]): UploadPlace {
  const [, project = "", drive = "", id = ""] = key.map(String);
  return { project, drive, id };
}

/** An entry of the garbage ends each upload at its deadline. */
function* uploadsWithoutDeadline(snapshot: Snapshot): Generator<Problem> {
  for (const { key, value, versionstamp } of snapshot.list<UploadSession>(prefixes.all("upload"))) {
    const { project, drive, id } = placeOf(key);
    const deadline = keys.garbage(value.expires, id);
    if (snapshot.has(deadline)) continue;
    const { name } = value;
    const garbage: Garbage = { kind: "upload", project, drive, name, id };
    const operation = new Operation().check(key, versionstamp).set(deadline, garbage);
    const place = { project, drive, name };
    const message = `The upload ${id} of ${fileText(place)} never expires`;
    yield repairable(
      { kind: "journal", message, ...place },
      operation,
      "It expires at its deadline",
    );
  }
}

function* damagedParts(
  snapshot: Snapshot,
  { project, drive, id }: UploadPlace,
  name: string,
  onBytes: OnBytes,
): Generator<Problem> {
  const place = { project, drive, name };
  for (
    const { key, value } of snapshot.list<PartRecord>(prefixes.all("part", project, drive, id))
  ) {
    const problem = chunksProblem(snapshot, value, onBytes);
    if (problem === undefined) continue;
    const part = `Part ${key.at(-1)} of the open upload ${id}`;
    const advice = "send it again, or abort the upload over the API";
    const message = `${part} of ${fileText(place)} is damaged: ${problem}; ${advice}`;
    yield { kind: "part", message, ...place };
  }
}

function orphanParts(snapshot: Snapshot, place: UploadPlace): Problem {
  const { project, drive, id } = place;
  const entries = [...snapshot.list<PartRecord>(prefixes.all("part", project, drive, id))];
  const parts = entries.map(({ key }) => key);
  const message = `There are ${parts.length} parts, but no upload ${id} in ${driveText(place)}`;
  const repair = deleteAll(parts, keys.upload(project, drive, id), "The parts were removed");
  return { kind: "orphan", message, project, drive, repair };
}

function orphanCounter(place: UploadPlace): Problem {
  const { project, drive, id } = place;
  const removal = new Operation()
    .check(keys.upload(project, drive, id), null)
    .delete(keys.partsRevision(project, drive, id));
  const message = `There is a counter, but no upload ${id} in ${driveText(place)}`;
  const problem = { kind: "orphan", message, project, drive } as const;
  return repairable(problem, removal, "The counter was removed");
}

/**
 * Yields a problem if an upload's counter differs from the bytes of its parts, which its end subtracts from the
 * drive's.
 */
function* uploadCounterProblems(
  snapshot: Snapshot,
  session: Session,
  { project, drive, id }: UploadPlace,
  bytes: bigint,
): Generator<Problem> {
  const key = keys.partsRevision(project, drive, id);
  const entry = snapshot.get<unknown>(key);
  const counted = counterValue(entry);
  if (counted === bytes) return;
  const { name } = session.value;
  const correction = new Operation().unchanged(session)
    .check(key, entry?.versionstamp ?? null);
  correctCounter(correction, snapshot, key, bytes);
  const place = { project, drive, name };
  const message = `The counter of the upload ${id} of ${fileText(place)} says ` +
    `${counted} bytes, but its parts have ${bytes}`;
  yield repairable({ kind: "usage", message, ...place }, correction, "The counter was corrected");
}

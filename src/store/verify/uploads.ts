import { DELETION_BATCH } from "../accounts/deletions.ts";
import { identityOf, keys, prefixes } from "../engine/keys.ts";
import { Operation } from "../engine/operation.ts";
import type { Garbage, OpenUploadRecord, PartRecord, UploadSession } from "../engine/records.ts";
import { setExpiring } from "../files/garbage.ts";
import { RECOUNT_MARK_TTL } from "./counters.ts";
import { chunksProblem, type OnBytes } from "./files.ts";
import { garbageIdOf, OrphanCandidates, type PendingRemovals } from "./ownership.ts";
import { driveText, fileText, type Problem } from "./problem.ts";
import type { Snapshot, SnapshotEntry } from "./snapshot.ts";

interface UploadPlace {
  project: string;
  drive: string;
  id: string;
}

function placeOf(key: readonly (string | number)[]): UploadPlace {
  const [, project = "", drive = "", id = ""] = key.map(String);
  return { project, drive, id };
}

/** Uploads that never end, and parts that are damaged or of no upload. */
export function* uploadProblems(
  snapshot: Snapshot,
  removals: PendingRemovals,
  onBytes: OnBytes,
): Generator<Problem> {
  yield* endlessUploads(snapshot);
  const candidates = new OrphanCandidates(snapshot);
  for (const head of snapshot.heads(prefixes.all("part"), 4)) {
    const place = placeOf(head);
    const session = snapshot.get<UploadSession>(keys.upload(place.project, place.drive, place.id));
    if (session !== undefined) yield* damagedParts(snapshot, place, session.value.name, onBytes);
    else {yield* candidates.add(
        garbageIdOf.upload(place.project, place.drive, place.id),
        lostParts(snapshot, place),
      );}
  }
  for (const key of snapshot.keys(prefixes.all("parts_revision"))) {
    const place = placeOf(key);
    if (snapshot.has(keys.upload(place.project, place.drive, place.id))) continue;
    if (removals.hasDrive(place.project, place.drive)) continue;
    yield* candidates.add(
      garbageIdOf.upload(place.project, place.drive, place.id),
      lostRevision(place),
    );
  }
  yield* candidates.rest();
}

/** What ends an upload is an entry of its own. */
function* endlessUploads(snapshot: Snapshot): Generator<Problem> {
  for (const { key, value, versionstamp } of snapshot.list<UploadSession>(prefixes.all("upload"))) {
    const { project, drive, id } = placeOf(key);
    const deadline = keys.garbage(value.expires, id);
    if (snapshot.has(deadline)) continue;
    const { name } = value;
    const garbage: Garbage = { kind: "upload", project, drive, name, id };
    const operation = new Operation().check(key, versionstamp).set(deadline, garbage);
    yield {
      kind: "journal",
      message: `Nothing ends the upload ${id} of ${fileText({ project, drive, name })}`,
      project,
      drive,
      name,
      repair: { done: "It ends when its time is over", operations: () => [operation] },
    };
  }
}

function* damagedParts(
  snapshot: Snapshot,
  { project, drive, id }: UploadPlace,
  name: string,
  onBytes: OnBytes,
): Generator<Problem> {
  const place = { project, drive, name };
  for (const { key, value } of snapshot.list<PartRecord>(prefixes.parts(project, drive, id))) {
    const problem = chunksProblem(snapshot, place, value, onBytes);
    if (problem === undefined) continue;
    const part = `part ${key.at(-1)} of the open upload ${id}`;
    const advice = "send it again, or abort the upload over the API";
    const message = `The ${part} of ${fileText(place)} is damaged: ${problem}; ${advice}`;
    yield { kind: "part", message, ...place };
  }
}

function lostParts(snapshot: Snapshot, { project, drive, id }: UploadPlace): Problem {
  const found = [...snapshot.list<PartRecord>(prefixes.parts(project, drive, id))];
  return {
    kind: "orphan",
    message: `There are ${found.length} parts of an upload ${id} in ${
      driveText(project, drive)
    } that is not there`,
    project,
    drive,
    repair: {
      done: "The parts were removed",
      *operations() {
        for (let i = 0; i < found.length; i += DELETION_BATCH) {
          const removal = new Operation().check(keys.upload(project, drive, id), null);
          for (const { key } of found.slice(i, i + DELETION_BATCH)) removal.delete(key);
          yield removal;
        }
      },
    },
  };
}

function lostRevision({ project, drive, id }: UploadPlace): Problem {
  const removal = new Operation()
    .check(keys.upload(project, drive, id), null)
    .delete(keys.partsRevision(project, drive, id));
  return {
    kind: "orphan",
    message: `There is a counter of an upload ${id} in ${
      driveText(project, drive)
    } that is not there`,
    project,
    drive,
    repair: { done: "The counter was removed", operations: () => [removal] },
  };
}

type Session = SnapshotEntry<UploadSession>;

/** What open uploads count for: their numbers, the counter of each, and that of each drive. */
export function* openUploadProblems(
  snapshot: Snapshot,
  removals: PendingRemovals,
): Generator<Problem> {
  /** Bytes of the parts of open uploads, by the key of the drive's counter. */
  const counted = new Map<string, bigint>();
  const given = new Set<string>();
  for (const session of snapshot.list<UploadSession>(prefixes.all("upload"))) {
    const [, project = "", drive = "", id = ""] = session.key.map(String);
    yield* numberProblems(snapshot, session, { project, drive, id }, given);
    let bytes = 0n;
    for (const { value } of snapshot.list<PartRecord>(prefixes.parts(project, drive, id))) {
      bytes += BigInt(value.size);
    }
    yield* revisionProblems(snapshot, session, { project, drive, id, bytes });
    const counter = identityOf(keys.usage(project, drive, "open_bytes"));
    counted.set(counter, (counted.get(counter) ?? 0n) + bytes);
  }
  yield* strayNumbers(snapshot);
  yield* counterProblems(snapshot, removals, counted);
}

interface Place {
  project: string;
  drive: string;
  id: string;
}

/** An upload whose number another one holds, or none. */
function* numberProblems(
  snapshot: Snapshot,
  { key, value, versionstamp }: Session,
  { project, drive, id }: Place,
  given: Set<string>,
): Generator<Problem> {
  const held = snapshot.get<OpenUploadRecord>(keys.openUpload(project, value.number))?.value;
  if (held?.drive === drive && held.id === id) return;
  const { name } = value;
  const free = freeNumber(snapshot, project, given);
  const record: OpenUploadRecord = { drive, id };
  const operation = new Operation().check(key, versionstamp)
    .set(key, { ...value, number: Number(free.at(-1)) } satisfies UploadSession)
    .check(free, null)
    .set(free, record);
  yield {
    kind: "index",
    message: `The upload ${id} of ${fileText({ project, drive, name })} does not hold its number`,
    project,
    drive,
    name,
    repair: { done: "It was given a free one", operations: () => [operation] },
  };
}

function freeNumber(snapshot: Snapshot, project: string, given: Set<string>): Deno.KvKey {
  for (let number = 0;; number++) {
    const key = keys.openUpload(project, number);
    if (given.has(identityOf(key)) || snapshot.has(key)) continue;
    given.add(identityOf(key));
    return key;
  }
}

/** Numbers that are held by what is not open. */
function* strayNumbers(snapshot: Snapshot): Generator<Problem> {
  const all = snapshot.list<OpenUploadRecord>(prefixes.all("open_upload"));
  for (const { key, value: { drive, id }, versionstamp } of all) {
    const [, project = "", number = ""] = key.map(String);
    const session = snapshot.get<UploadSession>(keys.upload(project, drive, id));
    if (session?.value.number === Number(number)) continue;
    const removal = new Operation().check(key, versionstamp).delete(key);
    yield {
      kind: "index",
      message: `Number ${number} of the open uploads of project ${project} is held by none`,
      project,
      drive,
      repair: { done: "The number is free again", operations: () => [removal] },
    };
  }
}

/** What an upload gives back when it ends is what its counter says. */
function* revisionProblems(
  snapshot: Snapshot,
  session: Session,
  { project, drive, id, bytes }: Place & { bytes: bigint },
): Generator<Problem> {
  const key = keys.partsRevision(project, drive, id);
  const entry = snapshot.get<unknown>(key);
  const told = valueOf(entry);
  if (told === bytes) return;
  const { name } = session.value;
  const correction = new Operation().check(session.key, session.versionstamp)
    .check(key, entry?.versionstamp ?? null);
  if (told === undefined) correction.delete(key);
  correction.sum(key, bytes - (told ?? 0n));
  yield {
    kind: "usage",
    message: `The counter of the upload ${id} of ${fileText({ project, drive, name })} says ` +
      `${told} bytes, and its parts have ${bytes}`,
    project,
    drive,
    name,
    repair: { done: "The counter was put right", operations: () => [correction] },
  };
}

function* counterProblems(
  snapshot: Snapshot,
  removals: PendingRemovals,
  counted: Map<string, bigint>,
): Generator<Problem> {
  for (const { key } of snapshot.list<unknown>(prefixes.all("usage"))) {
    const id = identityOf(key);
    if (key.at(-1) === "open_bytes" && !counted.has(id)) counted.set(id, 0n);
  }
  for (const [id, bytes] of counted) {
    const [, project = "", drive = ""] = (JSON.parse(id) as unknown[]).map(String);
    // The counters go at the end then.
    if (removals.hasDrive(project, drive)) continue;
    const key = keys.usage(project, drive, "open_bytes");
    const entry = snapshot.get<unknown>(key);
    const told = valueOf(entry);
    if (told === bytes) continue;
    const correction = recount(snapshot, { project, drive });
    if (told === undefined) correction.check(key, entry?.versionstamp ?? null).delete(key);
    correction.sum(key, bytes - (told ?? 0n));
    yield {
      kind: "usage",
      message: `The counter of open uploads in ${driveText(project, drive)} says ${told} bytes, ` +
        `and their parts have ${bytes}`,
      project,
      drive,
      repair: { done: "The counter was put right", operations: () => [correction] },
    };
  }
}

/** Writers add to counters and never set them. That a correction is added once is seen by an entry of its own. */
function recount(
  snapshot: Snapshot,
  { project, drive }: Pick<Place, "project" | "drive">,
): Operation {
  const mark = keys.recounted(project, drive);
  const operation = new Operation().check(mark, snapshot.get(mark)?.versionstamp ?? null);
  const deadline = Date.now() + RECOUNT_MARK_TTL;
  const id = crypto.randomUUID();
  setExpiring(operation, { project, drive }, { key: mark, value: id, deadline, id });
  return operation;
}

/** 0 without a counter; `undefined` for what is none. */
function valueOf(entry: SnapshotEntry<unknown> | undefined): bigint | undefined {
  if (entry === undefined) return 0n;
  return entry.value instanceof Deno.KvU64 ? entry.value.value : undefined;
}

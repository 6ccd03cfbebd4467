import { RECOUNT_MEMORY } from "../../drive/limits.ts";
import { identityOf, keys, prefixes } from "../keys.ts";
import { Operation } from "../operation.ts";
import type { OpenUploadRecord, PartRecord, UploadSession } from "../records.ts";
import type { Snapshot, SnapshotEntry } from "../snapshot.ts";
import { driveText, fileText, type Problem } from "./problem.ts";
import type { Removals } from "./removals.ts";

type Session = SnapshotEntry<UploadSession>;

/** What open uploads count for: their numbers, the counter of each, and that of each drive. */
export function* openUploadProblems(snapshot: Snapshot, removals: Removals): Generator<Problem> {
  /** Bytes of the parts of open uploads, by the key of the drive's counter. */
  const counted = new Map<string, bigint>();
  const given = new Set<string>();
  for (const session of snapshot.list<UploadSession>(prefixes.all("upload"))) {
    // Uploads of older versions are not counted before their next part.
    if (session.value.number === undefined) continue;
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
  const held = snapshot.get<OpenUploadRecord>(keys.openUpload(project, value.number ?? 0))?.value;
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
  removals: Removals,
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
  return new Operation()
    .check(mark, snapshot.get(mark)?.versionstamp ?? null)
    .set(mark, crypto.randomUUID(), RECOUNT_MEMORY);
}

/** 0 without a counter; `undefined` for what is none. */
function valueOf(entry: SnapshotEntry<unknown> | undefined): bigint | undefined {
  if (entry === undefined) return 0n;
  return entry.value instanceof Deno.KvU64 ? entry.value.value : undefined;
}

import { RECLAIM_BATCH } from "../../drive/limits.ts";
import { keys, prefixes } from "../keys.ts";
import { Operation } from "../operation.ts";
import type { Garbage, PartRecord, UploadSession } from "../records.ts";
import type { Snapshot } from "../snapshot.ts";
import { chunksProblem, type OnBytes } from "./bytes.ts";
import { Candidates, idOf } from "./candidates.ts";
import { driveText, fileText, type Problem } from "./problem.ts";
import type { Removals } from "./removals.ts";

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
  removals: Removals,
  onBytes: OnBytes,
): Generator<Problem> {
  yield* endlessUploads(snapshot);
  const candidates = new Candidates(snapshot);
  for (const head of snapshot.heads(prefixes.all("part"), 4)) {
    const place = placeOf(head);
    const session = snapshot.get<UploadSession>(keys.upload(place.project, place.drive, place.id));
    if (session !== undefined) yield* damagedParts(snapshot, place, session.value.name, onBytes);
    else {yield* candidates.add(
        idOf.upload(place.project, place.drive, place.id),
        lostParts(snapshot, place),
      );}
  }
  for (const key of snapshot.keys(prefixes.all("parts_revision"))) {
    const place = placeOf(key);
    if (snapshot.has(keys.upload(place.project, place.drive, place.id))) continue;
    if (removals.hasDrive(place.project, place.drive)) continue;
    yield* candidates.add(idOf.upload(place.project, place.drive, place.id), lostRevision(place));
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
        for (let i = 0; i < found.length; i += RECLAIM_BATCH) {
          const removal = new Operation().check(keys.upload(project, drive, id), null);
          for (const { key } of found.slice(i, i + RECLAIM_BATCH)) removal.delete(key);
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

import { RECLAIM_BATCH } from "../../drive/limits.ts";
import { chunkCount } from "../chunks.ts";
import { keys, prefixes } from "../keys.ts";
import { Operation } from "../operation.ts";
import type { FileRecord, Place } from "../records.ts";
import type { Snapshot } from "../snapshot.ts";
import { Candidates, idOf } from "./candidates.ts";
import type { Owners } from "./owners.ts";
import { fileText, type Problem } from "./problem.ts";

/** Contents, lists of parts and chunks that no file has. Lists come before the chunks that they keep. */
export function* orphanProblems(snapshot: Snapshot, owners: Owners): Generator<Problem> {
  yield* contentOrphans(snapshot);
  const candidates = new Candidates(snapshot);
  yield* manifestOrphans(snapshot, candidates);
  yield* chunkOrphans(snapshot, owners, candidates);
  yield* candidates.rest();
}

function placeOf(key: readonly (string | number)[]): Place {
  const [, project = "", drive = "", name = ""] = key.map(String);
  return { project, drive, name };
}

function* contentOrphans(snapshot: Snapshot): Generator<Problem> {
  for (const key of snapshot.keys(prefixes.all("content"))) {
    const place = placeOf(key);
    const file = snapshot.get<FileRecord>(keys.file(place));
    if (file?.value.layout.kind === "inline") continue;
    const removal = new Operation()
      .check(keys.file(place), file?.versionstamp ?? null)
      .delete(keys.content(place));
    yield {
      kind: "orphan",
      message: `Nobody needs the content that is kept for ${fileText(place)}`,
      ...place,
      repair: { done: "The content was removed", operations: () => [removal] },
    };
  }
}

function* manifestOrphans(snapshot: Snapshot, candidates: Candidates): Generator<Problem> {
  for (const head of snapshot.heads(prefixes.all("manifest"), 5)) {
    const place = placeOf(head);
    const version = String(head[4]);
    const file = snapshot.get<FileRecord>(keys.file(place));
    const isOwned = file?.value.version === version && file.value.layout.kind === "manifest";
    if (isOwned) continue;
    const removal = new Operation().check(keys.file(place), file?.versionstamp ?? null);
    for (const key of snapshot.keys(head)) removal.delete(key);
    const problem: Problem = {
      kind: "orphan",
      message: `Nobody needs the list of parts ${version} of ${fileText(place)}`,
      ...place,
      repair: { done: "The list was removed", operations: () => [removal] },
    };
    yield* candidates.add(
      idOf.manifest(place.project, place.drive, place.name, version),
      problem,
    );
  }
}

function* chunkOrphans(
  snapshot: Snapshot,
  owners: Owners,
  candidates: Candidates,
): Generator<Problem> {
  for (const head of snapshot.heads(prefixes.all("chunk"), 5)) {
    const place = placeOf(head);
    const version = String(head[4]);
    const size = owners.sizeOf(place, version);
    if (size !== undefined) {
      const extra = chunksFrom(snapshot, place, version, chunkCount(size));
      if (extra.length > 0) yield chunkProblem(snapshot, place, version, extra);
    } else if (!snapshot.has(keys.pending(version))) {
      const problem = chunkProblem(
        snapshot,
        place,
        version,
        chunksFrom(snapshot, place, version, 0),
      );
      const id = idOf.chunks(place.project, place.drive, place.name, version);
      yield* candidates.add(id, problem);
    }
  }
}

/** The chunks of a version from one on. A version has few enough of them. */
function chunksFrom(snapshot: Snapshot, place: Place, version: string, from: number): number[] {
  const found: number[] = [];
  for (const [index] of snapshot.pieceSizes(prefixes.chunks(place, version))) {
    if (index >= from) found.push(index);
  }
  return found;
}

function chunkProblem(
  snapshot: Snapshot,
  place: Place,
  version: string,
  indexes: readonly number[],
): Problem {
  const file = snapshot.get(keys.file(place));
  return {
    kind: "orphan",
    message: `Nobody needs ${indexes.length} chunks of version ${version} of ${fileText(place)}`,
    ...place,
    repair: {
      done: "The chunks were removed",
      *operations() {
        for (let i = 0; i < indexes.length; i += RECLAIM_BATCH) {
          const removal = new Operation()
            .check(keys.file(place), file?.versionstamp ?? null)
            .check(keys.pending(version), null);
          for (const index of indexes.slice(i, i + RECLAIM_BATCH)) {
            removal.delete(keys.chunk(place, version, index));
          }
          yield removal;
        }
      },
    },
  };
}

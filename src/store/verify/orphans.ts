import { RECLAIM_BATCH } from "../../drive/limits.ts";
import { checksumPages } from "../checksums.ts";
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
  for (const kind of [CHUNKS, CHECKSUMS]) {
    for (const head of snapshot.heads(prefixes.all(kind.name), 5)) {
      const place = placeOf(head);
      const version = String(head[4]);
      const size = owners.sizeOf(place, version);
      const isWritten = size === undefined && snapshot.has(keys.pending(version));
      if (isWritten) continue;
      const needed = size === undefined ? 0 : kind.count(size);
      const extra = entriesFrom(snapshot, kind.prefix(place, version), needed);
      if (extra.length === 0) continue;
      const problem = bytesProblem(snapshot, kind, place, version, extra);
      const id = idOf.chunks(place.project, place.drive, place.name, version);
      if (size === undefined) yield* candidates.add(id, problem);
      else yield problem;
    }
  }
}

/** One of the two kinds of entries that hold the bytes of a version. */
interface BytesKind {
  name: string;
  /** What one is, in the plural. */
  label: string;
  /** How many of them a version of so many bytes has. */
  count: (size: number) => number;
  prefix: (place: Place, version: string) => Deno.KvKey;
  key: (place: Place, version: string, index: number) => Deno.KvKey;
}

const CHUNKS: BytesKind = {
  name: "chunk",
  label: "chunks",
  count: chunkCount,
  prefix: prefixes.chunks,
  key: keys.chunk,
};

const CHECKSUMS: BytesKind = {
  name: "checksums",
  label: "pages of checksums",
  count: (size) => checksumPages(chunkCount(size)),
  prefix: prefixes.checksums,
  key: keys.checksums,
};

/** The chunks or pages of a version from one on. A version has few enough of them. */
function entriesFrom(snapshot: Snapshot, prefix: Deno.KvKey, from: number): number[] {
  const found: number[] = [];
  for (const [index] of snapshot.pieceSizes(prefix)) {
    if (index >= from) found.push(index);
  }
  return found;
}

function bytesProblem(
  snapshot: Snapshot,
  { label, key }: BytesKind,
  place: Place,
  version: string,
  indexes: readonly number[],
): Problem {
  const file = snapshot.get(keys.file(place));
  return {
    kind: "orphan",
    message: `Nobody needs ${indexes.length} ${label} of version ${version} of ${fileText(place)}`,
    ...place,
    repair: {
      done: `The ${label} were removed`,
      *operations() {
        for (let i = 0; i < indexes.length; i += RECLAIM_BATCH) {
          const removal = new Operation()
            .check(keys.file(place), file?.versionstamp ?? null)
            .check(keys.pending(version), null);
          for (const index of indexes.slice(i, i + RECLAIM_BATCH)) {
            removal.delete(key(place, version, index));
          }
          yield removal;
        }
      },
    },
  };
}

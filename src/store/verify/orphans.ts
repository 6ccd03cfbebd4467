import { DELETION_BATCH } from "../accounts/deletions.ts";
import { keys, prefixes } from "../engine/keys.ts";
import { Operation } from "../engine/operation.ts";
import type { FileRecord, Garbage, PendingWrite, Place, UploadSession } from "../engine/records.ts";
import { checksumPages } from "../files/checksums.ts";
import { chunkCount } from "../files/chunks.ts";
import { addGarbage } from "../files/garbage.ts";
import { chunksOf } from "../files/write_lease.ts";
import { garbageIdOf, OrphanCandidates, type VersionOwners } from "./ownership.ts";
import { fileText, type Problem } from "./problem.ts";
import type { Snapshot, SnapshotEntry } from "./snapshot.ts";

/** Contents, lists of parts and chunks that no file has. Lists come before the chunks that they keep. */
export function* orphanProblems(snapshot: Snapshot, owners: VersionOwners): Generator<Problem> {
  yield* contentOrphans(snapshot);
  const candidates = new OrphanCandidates(snapshot);
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

function* manifestOrphans(snapshot: Snapshot, candidates: OrphanCandidates): Generator<Problem> {
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
      garbageIdOf.manifest(place.project, place.drive, place.name, version),
      problem,
    );
  }
}

function* chunkOrphans(
  snapshot: Snapshot,
  owners: VersionOwners,
  candidates: OrphanCandidates,
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
      const id = garbageIdOf.chunks(place.project, place.drive, place.name, version);
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
        for (let i = 0; i < indexes.length; i += DELETION_BATCH) {
          const removal = new Operation()
            .check(keys.file(place), file?.versionstamp ?? null)
            .check(keys.pending(version), null);
          for (const index of indexes.slice(i, i + DELETION_BATCH)) {
            removal.delete(key(place, version, index));
          }
          yield removal;
        }
      },
    },
  };
}

/**
 * Entries that would make the sweeper remove what somebody needs, or that it would never come to. What it would only
 * find nothing to do for is none of them.
 */
export function* journalProblems(snapshot: Snapshot, owners: VersionOwners): Generator<Problem> {
  for (const pending of snapshot.list<PendingWrite>(prefixes.all("pending"))) {
    yield* pendingProblems(snapshot, owners, pending);
  }
  for (const garbage of snapshot.list<Garbage>(prefixes.all("garbage"))) {
    if (isNeeded(snapshot, owners, garbage)) yield garbageProblem(garbage);
  }
}

function* pendingProblems(
  snapshot: Snapshot,
  owners: VersionOwners,
  { key, value, versionstamp }: SnapshotEntry<PendingWrite>,
): Generator<Problem> {
  const { project, drive, name, version } = value;
  const place = { project, drive, name };
  const lease = snapshot.get<number>(keys.lease(version));
  const isOwned = owners.sizeOf(place, version) !== undefined;
  if (lease !== undefined && !isOwned) return;
  const operation = new Operation().check(key, versionstamp)
    .check(keys.lease(version), lease?.versionstamp ?? null)
    .delete(key)
    .delete(keys.lease(version));
  if (!isOwned) addGarbage(operation, chunksOf(value), Date.now());
  const what = isOwned
    ? "are taken for ones that are being written"
    : "are never given up by their writer";
  yield {
    kind: "journal",
    message: `Bytes of ${fileText(place)}, of version ${version}, ${what}`,
    ...place,
    repair: {
      done: isOwned ? "They are the file's" : "They are removed",
      operations: () => [operation],
    },
  };
}

function isNeeded(
  snapshot: Snapshot,
  owners: VersionOwners,
  { key, value }: SnapshotEntry<Garbage>,
): boolean {
  const { project, drive } = value;
  const file = () => snapshot.get<FileRecord>(keys.file(value))?.value;
  const session = (id: string) =>
    snapshot.get<UploadSession>(keys.upload(project, drive, id))?.value;
  switch (value.kind) {
    case "chunks":
      return owners.sizeOf(value, value.version) !== undefined;
    case "manifest":
      return file()?.version === value.file && file()?.layout.kind === "manifest";
    case "parts":
      return session(value.id) !== undefined;
    case "upload": {
      const open = session(value.id);
      return open !== undefined && open.expires !== key[1];
    }
    case "entry":
      return false;
  }
}

function garbageProblem({ key, value, versionstamp }: SnapshotEntry<Garbage>): Problem {
  const { project, drive, name, kind } = value;
  const place = { project, drive, name };
  const operation = new Operation().check(key, versionstamp).delete(key);
  return {
    kind: "journal",
    message: `Something that ${fileText(place)} needs (${kind}) is to be removed`,
    ...place,
    repair: { done: "It stays", operations: () => [operation] },
  };
}

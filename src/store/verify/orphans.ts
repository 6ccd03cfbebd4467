/**
 * Bytes without an owner, and entries of the journals that would delete bytes in use or never release them.
 *
 * @module
 */
import { keys, prefixes } from "../engine/keys.ts";
import { Operation } from "../engine/operation.ts";
import {
  type FileRecord,
  fileText,
  type Garbage,
  type PendingWrite,
  type Place,
  type UploadSession,
} from "../engine/records.ts";
import { checksumPages } from "../files/checksums.ts";
import { chunkCount } from "../files/chunks.ts";
import { addGarbage } from "../files/garbage.ts";
import { chunksOf } from "../files/write_lease.ts";
import { garbageIdOf, OrphanCandidates, type VersionOwners } from "./ownership.ts";
import { deleteInBatches, deleteUnchanged, type Problem, repairWith } from "./problem.ts";
import type { Snapshot, SnapshotEntry } from "./snapshot.ts";

/** Yields contents, manifests, chunks and checksums that belong to nothing and are not garbage either. */
export function* orphanProblems(snapshot: Snapshot, owners: VersionOwners): Generator<Problem> {
  yield* orphanContents(snapshot);
  const candidates = new OrphanCandidates(snapshot);
  // Manifests before chunks: a manifest owns its chunks, even if nothing owns the manifest.
  yield* orphanManifests(snapshot, candidates);
  yield* orphanBytes(snapshot, owners, candidates);
  yield* candidates.flush();
}

/**
 * Yields entries of the journals that would make the sweeper delete bytes in use, or that it would never process.
 * Entries without any effect are no problem.
 */
export function* journalProblems(snapshot: Snapshot, owners: VersionOwners): Generator<Problem> {
  for (const pending of snapshot.list<PendingWrite>(prefixes.all("pending"))) {
    yield* pendingWriteProblems(snapshot, owners, pending);
  }
  for (const garbage of snapshot.list<Garbage>(prefixes.all("garbage"))) {
    if (isInUse(snapshot, owners, garbage)) yield garbageProblem(garbage);
  }
}

function placeOf(key: readonly (string | number)[]): Place {
  const [, project = "", drive = "", name = ""] = key.map(String);
  return { project, drive, name };
}

function* orphanContents(snapshot: Snapshot): Generator<Problem> {
  for (const key of snapshot.keys(prefixes.all("content"))) {
    const place = placeOf(key);
    const file = snapshot.get<FileRecord>(keys.file(place));
    if (file?.value.layout.kind === "inline") continue;
    const removal = new Operation()
      .check(keys.file(place), file?.versionstamp ?? null)
      .delete(keys.content(place));
    yield {
      kind: "orphan",
      message: `The content stored for ${fileText(place)} is unused`,
      ...place,
      repair: repairWith(removal, "The content was removed"),
    };
  }
}

function* orphanManifests(snapshot: Snapshot, candidates: OrphanCandidates): Generator<Problem> {
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
      message: `The list of parts ${version} of ${fileText(place)} is unused`,
      ...place,
      repair: repairWith(removal, "The list was removed"),
    };
    yield* candidates.add(
      garbageIdOf.manifest(place.project, place.drive, place.name, version),
      problem,
    );
  }
}

/** One of the two kinds of entries that a version's bytes consist of. */
interface BytesKind {
  name: string;
  /** The plural in messages. */
  label: string;
  /** How many entries a version of `size` bytes has. */
  count: (size: number) => number;
  prefix: (place: Place, version: string) => Deno.KvKey;
  key: (place: Place, version: string, index: number) => Deno.KvKey;
}

const BYTES_KINDS: readonly BytesKind[] = [
  {
    name: "chunk",
    label: "chunks",
    count: chunkCount,
    prefix: prefixes.chunks,
    key: keys.chunk,
  },
  {
    name: "checksums",
    label: "pages of checksums",
    count: (size) => checksumPages(chunkCount(size)),
    prefix: prefixes.checksums,
    key: keys.checksums,
  },
];

/** Yields versions without an owner, and entries past the end of versions with one. */
function* orphanBytes(
  snapshot: Snapshot,
  owners: VersionOwners,
  candidates: OrphanCandidates,
): Generator<Problem> {
  for (const kind of BYTES_KINDS) {
    for (const head of snapshot.heads(prefixes.all(kind.name), 5)) {
      const place = placeOf(head);
      const version = String(head[4]);
      const size = owners.ownedSize(place, version);
      const isBeingWritten = size === undefined && snapshot.has(keys.pending(version));
      if (isBeingWritten) continue;
      const needed = size === undefined ? 0 : kind.count(size);
      const extra = indexesFrom(snapshot, kind.prefix(place, version), needed);
      if (extra.length === 0) continue;
      const problem = bytesProblem(snapshot, kind, place, version, extra);
      const id = garbageIdOf.chunks(place.project, place.drive, place.name, version);
      if (size === undefined) yield* candidates.add(id, problem);
      else yield problem;
    }
  }
}

/** The indexes of a version's entries from `first` on. A version of 10 MB has 160 chunks at most. */
function indexesFrom(snapshot: Snapshot, prefix: Deno.KvKey, first: number): number[] {
  const found: number[] = [];
  for (const [index] of snapshot.chunkSizes(prefix)) if (index >= first) found.push(index);
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
  const begin = () =>
    new Operation()
      .check(keys.file(place), file?.versionstamp ?? null)
      .check(keys.pending(version), null);
  const unused = indexes.map((index) => key(place, version, index));
  return {
    kind: "orphan",
    message: `${indexes.length} ${label} of version ${version} of ${fileText(place)} are unused`,
    ...place,
    repair: {
      done: `The ${label} were removed`,
      operations: () => deleteInBatches(unused, begin),
    },
  };
}

/** A pending write is right as long as it has a lease and its version no owner. */
function* pendingWriteProblems(
  snapshot: Snapshot,
  owners: VersionOwners,
  { key, value, versionstamp }: SnapshotEntry<PendingWrite>,
): Generator<Problem> {
  const { project, drive, name, version } = value;
  const place = { project, drive, name };
  const lease = snapshot.get<number>(keys.lease(version));
  const isOwned = owners.ownedSize(place, version) !== undefined;
  if (lease !== undefined && !isOwned) return;
  const operation = new Operation().check(key, versionstamp)
    .check(keys.lease(version), lease?.versionstamp ?? null)
    .delete(key)
    .delete(keys.lease(version));
  if (!isOwned) addGarbage(operation, chunksOf(value), Date.now());
  const contradiction = isOwned ? "is complete" : "has no lease that could expire";
  yield {
    kind: "journal",
    message: `Version ${version} of ${fileText(place)} is marked as being written, ` +
      `but ${contradiction}`,
    ...place,
    repair: repairWith(operation, isOwned ? "The mark was removed" : "Its bytes will be removed"),
  };
}

function isInUse(
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
      return owners.ownedSize(value, value.version) !== undefined;
    case "manifest":
      return file()?.version === value.file && file()?.layout.kind === "manifest";
    case "parts":
      return session(value.id) !== undefined;
    case "upload": {
      // The entry that ends an upload at its deadline is right.
      const open = session(value.id);
      return open !== undefined && open.expires !== key[1];
    }
    case "entry":
      return false;
  }
}

function garbageProblem(entry: SnapshotEntry<Garbage>): Problem {
  const { project, drive, name, kind } = entry.value;
  const place = { project, drive, name };
  return {
    kind: "journal",
    message: `Data of ${fileText(place)} (${kind}) is in use but scheduled for deletion`,
    ...place,
    repair: repairWith(deleteUnchanged(entry), "It is kept"),
  };
}

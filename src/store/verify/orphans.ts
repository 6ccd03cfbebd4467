/**
 * Bytes without an owner, and entries of the journals that would delete bytes in use or never release them.
 *
 * @module
 */
import { keys, prefixes } from "../engine/keys.ts";
import { Operation } from "../engine/operation.ts";
import {
  fileText,
  type Garbage,
  type LinkKeyRecord,
  type LinkRecord,
  type PendingWrite,
  type UploadSession,
} from "../engine/records.ts";
import type { Kind } from "../engine/records/kinds.ts";
import { checksumPages } from "../bytes/checksums.ts";
import { chunkCount } from "../bytes/chunks.ts";
import { addGarbage } from "../bytes/garbage.ts";
import { chunksOf } from "../bytes/write_lease.ts";
import { garbageIdOf, OrphanCandidates, type VersionOwners } from "./ownership.ts";
import { deleteBytes, deleteUnchanged, type Problem, repairable } from "./problem.ts";
import type { Snapshot, SnapshotEntry } from "./snapshot.ts";

/** Yields contents, manifests, chunks and checksums that belong to nothing and are not garbage either. */
export function* orphanProblems(snapshot: Snapshot, owners: VersionOwners): Generator<Problem> {
  yield* orphanContents(snapshot, owners);
  const candidates = new OrphanCandidates(snapshot);
  // Manifests before chunks: a manifest owns its chunks, even if nothing owns the manifest.
  yield* orphanManifests(snapshot, owners, candidates);
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

function* orphanContents(snapshot: Snapshot, owners: VersionOwners): Generator<Problem> {
  for (const key of snapshot.keys(prefixes.all("content"))) {
    const version = String(key[1]);
    if (owners.ownedSize(version, "inline") !== undefined) continue;
    const message = `The content of version ${version} is unused`;
    const removal = new Operation().delete(key);
    yield repairable({ kind: "orphan", message }, removal, "The content was removed");
  }
}

function* orphanManifests(
  snapshot: Snapshot,
  owners: VersionOwners,
  candidates: OrphanCandidates,
): Generator<Problem> {
  for (const head of snapshot.heads(prefixes.all("manifest"), 2)) {
    const version = String(head[1]);
    if (owners.ownedSize(version, "manifest") !== undefined) continue;
    const removal = new Operation();
    for (const key of snapshot.keys(head)) removal.delete(key);
    const message = `The list of parts ${version} is unused`;
    const problem = repairable({ kind: "orphan", message }, removal, "The list was removed");
    yield* candidates.add(garbageIdOf.manifest(version), problem);
  }
}

/** One of the two kinds of entries that a version's bytes consist of. */
interface BytesKind {
  name: Kind;
  /** The plural in messages. */
  label: string;
  /** How many entries a version of `size` bytes has. */
  count: (size: number) => number;
}

const BYTES_KINDS: readonly BytesKind[] = [
  { name: "chunk", label: "chunks", count: chunkCount },
  {
    name: "checksums",
    label: "pages of checksums",
    count: (size) => checksumPages(chunkCount(size)),
  },
];

/** Yields versions without an owner, and entries past the end of versions with one. */
function* orphanBytes(
  snapshot: Snapshot,
  owners: VersionOwners,
  candidates: OrphanCandidates,
): Generator<Problem> {
  for (const kind of BYTES_KINDS) {
    for (const head of snapshot.heads(prefixes.all(kind.name), 2)) {
      const version = String(head[1]);
      const size = owners.ownedSize(version, "chunks");
      const isBeingWritten = size === undefined && snapshot.has(keys.pending(version));
      if (isBeingWritten) continue;
      const needed = size === undefined ? 0 : kind.count(size);
      // A version of 5 GiB has 81,920 chunks at most.
      const extra = [...snapshot.keys(head)].filter((key) => Number(key.at(-1)) >= needed);
      if (extra.length === 0) continue;
      const problem = bytesProblem(kind, version, extra);
      if (size === undefined) yield* candidates.add(garbageIdOf.chunks(version), problem);
      else yield problem;
    }
  }
}

function bytesProblem(
  { label }: BytesKind,
  version: string,
  unused: readonly Deno.KvKey[],
): Problem {
  const message = `${unused.length} ${label} of version ${version} are unused`;
  const removal = deleteBytes(unused, `The ${label} were removed`);
  return { kind: "orphan", message, repair: removal };
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
  const isOwned = owners.of(version) !== undefined;
  if (lease !== undefined && !isOwned) return;
  const operation = new Operation().check(key, versionstamp)
    .check(keys.lease(version), lease?.versionstamp ?? null)
    .delete(key)
    .delete(keys.lease(version));
  if (!isOwned) addGarbage(operation, chunksOf(value), Date.now());
  const contradiction = isOwned ? "is complete" : "has no lease that could expire";
  const message = `Version ${version} of ${fileText(place)} is marked as being written, ` +
    `but ${contradiction}`;
  const done = isOwned ? "The mark was removed" : "Its bytes will be removed";
  yield repairable({ kind: "journal", message, ...place }, operation, done);
}

function isInUse(
  snapshot: Snapshot,
  owners: VersionOwners,
  { key, value }: SnapshotEntry<Garbage>,
): boolean {
  const { project, drive } = value;
  const session = (id: string) =>
    snapshot.get<UploadSession>(keys.upload(project, drive, id))?.value;
  switch (value.kind) {
    case "chunks":
    case "manifest":
      return owners.ownedSize(value.version, value.kind) !== undefined;
    case "parts":
      return session(value.id) !== undefined;
    case "upload": {
      // The entry that ends an upload at its deadline is right.
      const open = session(value.id);
      return open !== undefined && open.expires !== key[1];
    }
    case "link": {
      const link = snapshot.get<LinkRecord>(keys.link(value.id))?.value;
      return link !== undefined && link.expires !== key[1];
    }
    case "links":
      return snapshot.get<LinkKeyRecord>(keys.linkKey())?.value.id === value.keyId;
    default:
      return false;
  }
}

function garbageProblem(entry: SnapshotEntry<Garbage>): Problem {
  const { project, drive, name, kind } = entry.value;
  const place = { project, drive, name };
  const message = `Data of ${fileText(place)} (${kind}) is in use but scheduled for deletion`;
  return repairable({ kind: "journal", message, ...place }, deleteUnchanged(entry), "It is kept");
}

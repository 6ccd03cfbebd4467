import { throwAway } from "../garbage.ts";
import { keys, prefixes } from "../keys.ts";
import { Operation } from "../operation.ts";
import type { FileRecord, Garbage, PendingWrite, UploadSession } from "../records.ts";
import type { Snapshot, SnapshotEntry } from "../snapshot.ts";
import { chunksOf } from "../write_lease.ts";
import type { Owners } from "./owners.ts";
import { fileText, type Problem } from "./problem.ts";

/**
 * Entries that would make the sweeper remove what somebody needs, or that it would never come to. What it would only
 * find nothing to do for is none of them.
 */
export function* journalProblems(snapshot: Snapshot, owners: Owners): Generator<Problem> {
  for (const pending of snapshot.list<PendingWrite>(prefixes.all("pending"))) {
    yield* pendingProblems(snapshot, owners, pending);
  }
  for (const garbage of snapshot.list<Garbage>(prefixes.all("garbage"))) {
    if (isNeeded(snapshot, owners, garbage)) yield garbageProblem(garbage);
  }
}

function* pendingProblems(
  snapshot: Snapshot,
  owners: Owners,
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
  if (!isOwned) throwAway(operation, chunksOf(value), Date.now());
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
  owners: Owners,
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

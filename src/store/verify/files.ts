/**
 * The bytes of files, also of those in the trash: read completely and compared with their checksums and digests.
 *
 * @module
 */
import { createHash } from "node:crypto";
import { keys, prefixes } from "../engine/keys.ts";
import { Operation } from "../engine/operation.ts";
import {
  bytesVersion,
  type FileRecord,
  fileText,
  type Garbage,
  type ManifestPage,
  type Place,
  type TrashRecord,
} from "../engine/records.ts";
import { countedBytes } from "../quotas/usage.ts";
import {
  checksumPages,
  contentProblem,
  OTHER_BYTES,
  thumbnailProblem,
  VersionCheck,
} from "../bytes/checksums.ts";
import { chunkCount } from "../bytes/chunks.ts";
import { setExpiry } from "../files/expiry.ts";
import type { UsageCheck } from "./counters.ts";
import { placeOf, type Problem, repairable } from "./problem.ts";
import type { Snapshot, SnapshotEntry } from "./snapshot.ts";

export const ADVICE = "restore it from a backup, or replace or delete it over the API";

/** A file that was checked. */
export interface FileCount {
  project: string;
  drive: string;
  /** The bytes that it counts for. */
  counted: number;
  /** Whether it has no digest and no journal entry says that the scrub will compute it. */
  isUnchecked: boolean;
}

/** Receives bytes that were read. */
export type OnBytes = (bytes: Uint8Array) => void;

/** Yields the damaged files, which have no repair, and those that the index of files that expire lacks. */
export function* fileProblems(
  snapshot: Snapshot,
  { onFile, onBytes }: { onFile: (file: FileCount) => void; onBytes: OnBytes },
): Generator<Problem> {
  for (const entry of snapshot.list<FileRecord>(prefixes.all("file"))) {
    const { key, value } = entry;
    const place = placeOf(key);
    const { project, drive } = place;
    const isUnchecked = value.sha256 === undefined && !snapshot.has(keys.undigested(place));
    onFile({ project, drive, counted: countedBytes(value), isUnchecked });
    yield* unindexedProblem(snapshot, place, entry);
    const problem = recordProblem(snapshot, value, onBytes);
    if (problem === undefined) continue;
    const message = `The file ${fileText(place)} is damaged: ${problem}; ${ADVICE}`;
    yield { kind: "file", message, ...place };
  }
}

/** Yields the problem of a file that expires and is not in the index by deadline: it would be absent, but never deleted. */
function* unindexedProblem(
  snapshot: Snapshot,
  place: Place,
  { key, value, versionstamp }: SnapshotEntry<FileRecord>,
): Generator<Problem> {
  const { expires, version } = value;
  if (expires === undefined || snapshot.has(keys.expiry(expires, version))) return;
  const operation = new Operation().check(key, versionstamp);
  setExpiry(operation, place, value);
  const message = `The file ${fileText(place)} expires, but would never be deleted`;
  yield repairable(
    { kind: "index", message, ...place },
    operation,
    "It is deleted at its deadline",
  );
}

/** The bytes of one version, and what they are compared with. */
export interface VersionBytes {
  version: string;
  size: number;
  /** The SHA-256 of the bytes in base64, if a record has it. */
  sha256?: string | undefined;
}

/** Returns the damage in the chunks of one version, as the end of a sentence; `undefined` if there is none. */
export function chunksProblem(
  snapshot: Snapshot,
  bytes: VersionBytes,
  onBytes: OnBytes,
): string | undefined {
  const { version, size, sha256 } = bytes;
  const count = chunkCount(size);
  const check = new VersionCheck({ size, sha256, pages: checksumsOf(snapshot, bytes) });
  for (const [index, chunk] of snapshot.chunks(prefixes.all("chunk", version))) {
    // Readers never see further chunks: the check for orphans reports them.
    if (index >= count) break;
    const problem = check.add(index, chunk);
    if (problem !== undefined) return problem;
    onBytes(chunk);
    // The garbage collector would release its memory late.
    chunk.buffer.transfer(0);
  }
  return check.end();
}

function checksumsOf(snapshot: Snapshot, { version, size }: VersionBytes): unknown[] {
  const numbers = Array.from({ length: checksumPages(chunkCount(size)) }, (_, number) => number);
  return numbers.map((number) => snapshot.get(keys.checksums(version, number))?.value);
}

/** Returns the damage in the bytes of a record, as the end of a sentence; `undefined` if there is none. */
export function recordProblem(
  snapshot: Snapshot,
  record: FileRecord,
  onBytes: OnBytes,
): string | undefined {
  const problem = bytesProblem(snapshot, record, onBytes);
  if (problem !== undefined || record.thumbnail === undefined) return problem;
  const { thumbnail } = record;
  return thumbnailProblem(thumbnail, contentOf(snapshot, thumbnail.version, onBytes));
}

/** Returns a content that was read; `undefined` if there is none. */
function contentOf(snapshot: Snapshot, version: string, onBytes: OnBytes): unknown {
  const content = snapshot.get<unknown>(keys.content(version))?.value;
  if (content instanceof Uint8Array) onBytes(content);
  return content;
}

function bytesProblem(
  snapshot: Snapshot,
  record: FileRecord,
  onBytes: OnBytes,
): string | undefined {
  const { layout, size, sha256 } = record;
  switch (layout.kind) {
    case "inline":
      return contentProblem(record, contentOf(snapshot, bytesVersion(record), onBytes));
    case "chunks":
      return chunksProblem(snapshot, { version: bytesVersion(record), size, sha256 }, onBytes);
    case "manifest":
      return manifestProblem(snapshot, record, onBytes);
    default:
      return "its record does not say where its bytes are";
  }
}

/**
 * Each part has a digest among its checksums. The digest of the whole file is in its record once the scrub has computed
 * it.
 */
function manifestProblem(
  snapshot: Snapshot,
  record: FileRecord,
  onBytes: OnBytes,
): string | undefined {
  const { size, sha256, layout } = record;
  if (layout.kind !== "manifest") return undefined;
  const { parts } = layout;
  const digest = createHash("sha256");
  let start = 0;
  let count = 0;
  for (
    const { key, value } of snapshot.list<ManifestPage>(
      prefixes.all("manifest", bytesVersion(record)),
    )
  ) {
    if (key.at(-1) !== start) return `its list of parts has a gap at byte ${start}`;
    for (const [i, part] of value.versions.entries()) {
      const bytes = { version: part, size: value.sizes[i] ?? 0 };
      const problem = chunksProblem(snapshot, bytes, (chunk) => {
        if (sha256 !== undefined) digest.update(chunk);
        onBytes(chunk);
      });
      if (problem !== undefined) return `of its part ${count + 1}, ${problem}`;
      start += bytes.size;
      count++;
    }
  }
  if (count !== parts) return `its list of parts has ${count} instead of ${parts}`;
  if (start !== size) return `its parts have ${start} bytes instead of ${size}`;
  return sha256 === undefined || sha256 === digest.digest("base64") ? undefined : OTHER_BYTES;
}

/** Yields the damaged files in the trash. They have no repair. */
export function* trashedFileProblems(snapshot: Snapshot, onBytes: OnBytes): Generator<Problem> {
  for (const item of snapshot.list<TrashRecord>(prefixes.all("trash"))) {
    const problem = recordProblem(snapshot, item.value.record, onBytes);
    if (problem === undefined) continue;
    const place = itemPlace(item);
    const message = `The file ${fileText(place)} in the trash is damaged: ${problem}; ` +
      `restore it from a backup, or delete it from the trash`;
    yield { kind: "file", message, ...place };
  }
}

/** Yields items that are never deleted, and counts all items. */
export function* trashProblems(snapshot: Snapshot, usage: UsageCheck): Generator<Problem> {
  for (const item of snapshot.list<TrashRecord>(prefixes.all("trash"))) {
    const place = itemPlace(item);
    usage.add(place, "trash_files", 1);
    usage.add(place, "trash_bytes", countedBytes(item.value.record));
    yield* deadlineProblems(snapshot, item);
  }
}

function* deadlineProblems(
  snapshot: Snapshot,
  item: SnapshotEntry<TrashRecord>,
): Generator<Problem> {
  const { key, value, versionstamp } = item;
  const id = String(key.at(-1));
  const deadline = keys.garbage(value.expires, id);
  if (snapshot.has(deadline)) return;
  const place = itemPlace(item);
  const garbage: Garbage = { kind: "trash", ...place, id };
  const operation = new Operation().check(key, versionstamp).set(deadline, garbage);
  const message = `The file ${fileText(place)} would stay in the trash for ever`;
  yield repairable(
    { kind: "journal", message, ...place },
    operation,
    "It is deleted at its deadline",
  );
}

function itemPlace({ key, value: { name } }: SnapshotEntry<TrashRecord>): Place {
  return { ...placeOf(key), name };
}

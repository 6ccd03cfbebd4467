import { createHash } from "node:crypto";
import { keys, prefixes } from "../engine/keys.ts";
import type { FileRecord, ManifestPage, Place } from "../engine/records.ts";
import { checksumPages, contentProblem, OTHER_BYTES, VersionCheck } from "../files/checksums.ts";
import { chunkCount } from "../files/chunks.ts";
import { fileText, type Problem } from "./problem.ts";
import type { Snapshot } from "./snapshot.ts";

/** The bytes of one version, and what they are compared with. */
export interface VersionBytes {
  version: string;
  size: number;
  /** Of the bytes, in base64, where a record has it. */
  sha256?: string | undefined;
}

/** Told of bytes that were looked at. */
export type OnBytes = (bytes: Uint8Array) => void;

/** What is wrong with the chunks of one version, as the end of a sentence; `undefined` where nothing is. */
export function chunksProblem(
  snapshot: Snapshot,
  place: Place,
  bytes: VersionBytes,
  onBytes: OnBytes,
): string | undefined {
  const { version, size, sha256 } = bytes;
  const count = chunkCount(size);
  const check = new VersionCheck({ size, sha256, pages: pagesOf(snapshot, place, bytes) });
  for (const [index, piece] of snapshot.pieces(prefixes.chunks(place, version))) {
    // What is behind the last one no reader gets: the search for orphans finds it.
    if (index >= count) break;
    const problem = check.add(index, piece);
    if (problem !== undefined) return problem;
    onBytes(piece);
  }
  return check.end();
}

function pagesOf(
  snapshot: Snapshot,
  place: Place,
  { version, size }: VersionBytes,
): unknown[] {
  const numbers = Array.from({ length: checksumPages(chunkCount(size)) }, (_, number) => number);
  return numbers.map((number) => snapshot.get(keys.checksums(place, version, number))?.value);
}

/** A file that was looked at. */
export interface FileCount {
  project: string;
  drive: string;
  size: number;
  /** Whether it has no digest, and the journal does not say that the digest is to be computed. */
  isUnchecked: boolean;
}

const ADVICE = "bring it back from a backup, or replace or delete it over the API";

/** Files of which bytes are missing or are other ones. They are left as they are. */
export function* fileProblems(
  snapshot: Snapshot,
  { onFile, onBytes }: { onFile: (file: FileCount) => void; onBytes: OnBytes },
): Generator<Problem> {
  for (const { key, value } of snapshot.list<FileRecord>(prefixes.all("file"))) {
    const [, project = "", drive = "", name = ""] = key.map(String);
    const place = { project, drive, name };
    const isUnchecked = value.sha256 === undefined && !snapshot.has(keys.undigested(place));
    onFile({ project, drive, size: value.size, isUnchecked });
    const problem = problemOf(snapshot, place, value, onBytes);
    if (problem === undefined) continue;
    const message = `The file ${fileText(place)} is damaged: ${problem}; ${ADVICE}`;
    yield { kind: "file", message, ...place };
  }
}

function problemOf(
  snapshot: Snapshot,
  place: Place,
  record: FileRecord,
  onBytes: OnBytes,
): string | undefined {
  const { layout, size, sha256 } = record;
  switch (layout.kind) {
    case "inline": {
      const content = snapshot.get<unknown>(keys.content(place))?.value;
      if (content instanceof Uint8Array) onBytes(content);
      return contentProblem(record, content);
    }
    case "chunks":
      return chunksProblem(snapshot, place, { ...layout, size, sha256 }, onBytes);
    case "manifest":
      return manifestProblem(snapshot, place, record, onBytes);
    default:
      return "its record says nothing of where its bytes are";
  }
}

/** The digest of each part lies beside its checksums; that of the whole file is in its record once it is known. */
function manifestProblem(
  snapshot: Snapshot,
  place: Place,
  { version, size, sha256, layout }: FileRecord,
  onBytes: OnBytes,
): string | undefined {
  if (layout.kind !== "manifest") return undefined;
  const { parts } = layout;
  const whole = createHash("sha256");
  let start = 0;
  let count = 0;
  for (const { key, value } of snapshot.list<ManifestPage>(prefixes.manifest(place, version))) {
    if (key.at(-1) !== start) return `its list of parts has a gap at byte ${start}`;
    for (const [i, part] of value.versions.entries()) {
      const bytes = { version: part, size: value.sizes[i] ?? 0 };
      const problem = chunksProblem(snapshot, place, bytes, (piece) => {
        if (sha256 !== undefined) whole.update(piece);
        onBytes(piece);
      });
      if (problem !== undefined) return `of its part ${count + 1}, ${problem}`;
      start += bytes.size;
      count++;
    }
  }
  if (count !== parts) return `its list of parts has ${count} instead of ${parts}`;
  if (start !== size) return `its parts have ${start} bytes instead of ${size}`;
  return sha256 === undefined || sha256 === whole.digest("base64") ? undefined : OTHER_BYTES;
}

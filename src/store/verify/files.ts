import { keys, prefixes } from "../keys.ts";
import type { FileRecord, ManifestPage, Place } from "../records.ts";
import { digest } from "../receive.ts";
import type { Snapshot } from "../snapshot.ts";
import { chunksProblem } from "./bytes.ts";
import { fileText, type Problem } from "./problem.ts";

/** What of files was looked at. */
export interface FileCount {
  project: string;
  drive: string;
  size: number;
}

const ADVICE = "bring it back from a backup, or replace or delete it over the API";

/** Files of which bytes are missing or are other ones. They are left as they are. */
export function* fileProblems(
  snapshot: Snapshot,
  { onFile, onBytes }: { onFile: (file: FileCount) => void; onBytes: (count: number) => void },
): Generator<Problem> {
  for (const { key, value } of snapshot.list<FileRecord>(prefixes.all("file"))) {
    const [, project = "", drive = "", name = ""] = key.map(String);
    const place = { project, drive, name };
    onFile({ project, drive, size: value.size });
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
  onBytes: (count: number) => void,
): string | undefined {
  const { layout, size, sha256 } = record;
  switch (layout.kind) {
    case "inline":
      onBytes(size);
      return contentProblem(snapshot, place, record);
    case "chunks":
      return chunksProblem(snapshot, place, { version: layout.version, size, sha256 }, onBytes);
    case "manifest":
      return manifestProblem(snapshot, place, { ...record, parts: layout.parts }, onBytes);
    default:
      return "its record says nothing of where its bytes are";
  }
}

function contentProblem(
  snapshot: Snapshot,
  place: Place,
  { size, sha256 }: FileRecord,
): string | undefined {
  const content = snapshot.get<unknown>(keys.content(place))?.value;
  if (content === undefined) return "its content is missing";
  if (!(content instanceof Uint8Array)) return "its content is no bytes";
  if (content.byteLength !== size) {
    return `its content has ${content.byteLength} bytes instead of ${size}`;
  }
  return sha256 === undefined || sha256 === digest(content)
    ? undefined
    : "its bytes are not those that were stored: their SHA-256 is another one";
}

/** The digests of parts are not kept when they become a file: what is known of them is their length. */
function manifestProblem(
  snapshot: Snapshot,
  place: Place,
  { version, size, parts }: FileRecord & { parts: number },
  onBytes: (count: number) => void,
): string | undefined {
  let start = 0;
  let count = 0;
  for (const { key, value } of snapshot.list<ManifestPage>(prefixes.manifest(place, version))) {
    if (key.at(-1) !== start) return `its list of parts has a gap at byte ${start}`;
    for (const [i, part] of value.versions.entries()) {
      const bytes = { version: part, size: value.sizes[i] ?? 0 };
      const problem = chunksProblem(snapshot, place, bytes, onBytes);
      if (problem !== undefined) return `of its part ${count + 1}, ${problem}`;
      start += bytes.size;
      count++;
    }
  }
  if (count !== parts) return `its list of parts has ${count} instead of ${parts}`;
  return start === size ? undefined : `its parts have ${start} bytes instead of ${size}`;
}

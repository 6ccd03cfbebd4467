/**
 * A single file of a snapshot: its record, then its bytes, compared with their checksums and digests as `verify` does.
 *
 * @module
 */
import { DamagedObject } from "../../../repository/errors.ts";
import { isoSeconds } from "../../../rules/dates.ts";
import { checksumPages, contentProblem, VersionCheck } from "../../bytes/checksums.ts";
import { chunkCount } from "../../bytes/chunks.ts";
import { CannotRestore } from "../../engine/errors.ts";
import { keys, prefixes } from "../../engine/keys.ts";
import {
  bytesVersion,
  type FileRecord,
  fileText,
  type ManifestPage,
  type Place,
} from "../../engine/records.ts";
import { isPresent } from "../../files/file_record.ts";
import { decodeKey, encodeKey } from "../../reads/kv_encoding.ts";
import { SECTIONS } from "../rows.ts";
import type { SnapshotReader } from "./snapshot_reader.ts";

export interface SnapshotFile {
  place: Place;
  record: FileRecord;
}

/** The name of a file that is looked for. */
export interface WantedFile {
  drive: string;
  name: string;
  /** Its project, unless only one has such a file. */
  project: string | undefined;
}

/** Finds a file. @throws {CannotRestore} if there is none, or several projects have one. */
export async function findFile(
  reader: SnapshotReader,
  { drive, name, project }: WantedFile,
): Promise<SnapshotFile> {
  const found: SnapshotFile[] = [];
  for (const one of project === undefined ? await projectsOf(reader) : [project]) {
    const place = { project: one, drive, name };
    const record = await reader.get<FileRecord>(keys.file(place));
    if (record === undefined || !isPresent(record, reader.snapshot.time)) continue;
    found.push({ place, record });
  }
  const [first, ...others] = found;
  const time = isoSeconds(reader.snapshot.time);
  if (first === undefined) {
    const where = project === undefined ? "" : ` of the project ${project}`;
    throw new CannotRestore(
      `There is no file ${JSON.stringify(name)} in the drive ${
        JSON.stringify(drive)
      }${where} in the snapshot of ${time}`,
    );
  }
  if (others.length === 0) return first;
  throw new CannotRestore(
    `The projects ${found.map(({ place }) => place.project).join(", ")} have a file ` +
      `${JSON.stringify(name)} in a drive ${JSON.stringify(drive)}: name one with --project`,
  );
}

async function projectsOf(reader: SnapshotReader): Promise<string[]> {
  const entries = await Array.fromAsync(reader.list(prefixes.all("project")));
  return entries.map(({ key }) => String(key[1]));
}

/**
 * Yields the bytes of a file. The last piece may come before an error: only all pieces together are the file.
 *
 * @throws {CannotRestore} if they are damaged.
 */
export async function* readFile(
  reader: SnapshotReader,
  { place, record }: SnapshotFile,
): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  const refuse = (problem: string): never => {
    throw new CannotRestore(
      `The file ${fileText(place)} is damaged in the snapshot ${reader.snapshot.id}: ${problem}. ` +
        "Try an earlier snapshot with --at",
    );
  };
  try {
    yield* recordBytes(reader, record, refuse);
  } catch (error) {
    if (error instanceof DamagedObject) refuse(error.message);
    throw error;
  }
}

type Refuse = (problem: string) => never;

async function* recordBytes(
  reader: SnapshotReader,
  record: FileRecord,
  refuse: Refuse,
): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  const version = bytesVersion(record);
  const { layout, size, sha256 } = record;
  if (layout.kind === "inline") {
    const content = await reader.get<Uint8Array<ArrayBuffer>>(keys.content(version));
    const problem = contentProblem(record, content);
    if (problem !== undefined) return refuse(problem);
    if (content !== undefined) yield content;
  } else if (layout.kind === "chunks") {
    yield* versionBytes(reader, { version, size, sha256 }, refuse);
  } else {
    let total = 0;
    for await (const { value } of reader.list<ManifestPage>(prefixes.all("manifest", version))) {
      for (const [i, part] of value.versions.entries()) {
        const bytes = { version: part, size: value.sizes[i] ?? 0, sha256: undefined };
        yield* versionBytes(reader, bytes, refuse);
        total += bytes.size;
      }
    }
    if (total !== size) refuse(`its parts have ${total} bytes instead of ${size}`);
  }
}

async function* versionBytes(
  reader: SnapshotReader,
  { version, size, sha256 }: { version: string; size: number; sha256: string | undefined },
  refuse: Refuse,
): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  const count = chunkCount(size);
  const pages: unknown[] = [];
  for (let page = 0; page < checksumPages(count); page++) {
    pages.push(await reader.get(keys.checksums(version, page)));
  }
  const check = new VersionCheck({ size, sha256, pages });
  const [start, end] = [encodeKey(keys.chunk(version, 0)), encodeKey(keys.chunk(version, count))];
  for await (const { k, v } of reader.rows(SECTIONS.chunks, start, end)) {
    const problem = check.add(Number(decodeKey(k)?.at(-1)), v);
    if (problem !== undefined) refuse(problem);
    yield v;
  }
  const problem = check.end();
  if (problem !== undefined) refuse(problem);
}

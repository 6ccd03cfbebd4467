import type { Database } from "../engine/database.ts";
import { keys, prefixes } from "../engine/keys.ts";
import type { Operation } from "../engine/operation.ts";
import { MAX_LIST_BATCH } from "../reads/read_queue.ts";
import type { FileRecord, Place } from "../engine/records.ts";

/**
 * Adds the change of a file to the counters of its drive, which makes the drive exist. Returns by how many bytes the
 * drive grows.
 */
export function countUsage(
  operation: Operation,
  { project, drive }: Place,
  before: FileRecord | null,
  after: FileRecord | null,
): number {
  const files = Number(after !== null) - Number(before !== null);
  const bytes = (after?.size ?? 0) - (before?.size ?? 0);
  if (files !== 0) operation.sum(keys.usage(project, drive, "files"), files);
  if (bytes !== 0) operation.sum(keys.usage(project, drive, "bytes"), bytes);
  return bytes;
}

/** Adds the change of the trash to the counters of its drive. Returns by how many bytes the drive grows. */
export function countTrash(
  operation: Operation,
  { project, drive }: Place,
  { size }: FileRecord,
  files: 1 | -1,
): number {
  operation.sum(keys.usage(project, drive, "trash_files"), files);
  if (size !== 0) operation.sum(keys.usage(project, drive, "trash_bytes"), files * size);
  return files * size;
}

/** The counters of a drive, or of a project. */
export interface Usage {
  files: number;
  /** Bytes of the files. */
  bytes: number;
  /** Bytes of the parts of open uploads. */
  openBytes: number;
  trashFiles: number;
  trashBytes: number;
}

export const NO_USAGE: Usage = { files: 0, bytes: 0, openBytes: 0, trashFiles: 0, trashBytes: 0 };

export interface DriveUsage extends Usage {
  name: string;
}

export interface ProjectUsage extends Usage {
  project: string;
}

/** Properties by the names of the counters in the store. */
export const COUNTERS: Record<string, keyof Usage> = {
  files: "files",
  bytes: "bytes",
  open_bytes: "openBytes",
  trash_files: "trashFiles",
  trash_bytes: "trashBytes",
};

/**
 * Returns the usage of each project without drives that are being deleted. Reads all counters, and nothing else.
 *
 * @param deleting The drives that are being deleted, by project. Every project has an entry.
 */
export async function listUsage(
  db: Database,
  deleting: ReadonlyMap<string, readonly string[]>,
): Promise<ProjectUsage[]> {
  const usages = new Map<string, ProjectUsage>();
  for (const project of deleting.keys()) {
    usages.set(project, { project, ...NO_USAGE });
  }
  const counters = db.reader.list<Deno.KvU64>(
    { prefix: prefixes.allUsage() },
    { batchSize: MAX_LIST_BATCH },
  );
  for await (const { key, value } of counters) {
    const [, project, drive, counter] = key;
    const usage = usages.get(String(project));
    if (usage === undefined || deleting.get(String(project))?.includes(String(drive))) continue;
    const field = COUNTERS[String(counter)];
    if (field !== undefined) usage[field] += Number(value.value);
  }
  return [...usages.values()];
}

/** Returns the drives of a project and their usage, in the order of their names' UTF-8 bytes. */
export async function listDrives(db: Database, project: string): Promise<DriveUsage[]> {
  const drives = new Map<string, DriveUsage>();
  const counters = db.reader.list<Deno.KvU64>({ prefix: prefixes.usage(project) });
  for await (const { key, value } of counters) {
    const [, , drive, counter] = key;
    const name = String(drive);
    const usage = drives.get(name) ?? { name, ...NO_USAGE };
    const field = COUNTERS[String(counter)];
    if (field !== undefined) drives.set(name, { ...usage, [field]: Number(value.value) });
  }
  return [...drives.values()];
}

import type { Database } from "../engine/database.ts";
import { keys, prefixes } from "../engine/keys.ts";
import type { Operation } from "../engine/operation.ts";
import { MAX_LIST_BATCH } from "../engine/read_queue.ts";
import type { FileRecord, Place } from "../engine/records.ts";

/** Keeps the counters of the drive right, and makes the drive exist; gives by how many bytes it grows. */
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

/** What a drive holds. */
export interface DriveUsage {
  name: string;
  files: number;
  /** Of the files. */
  bytes: number;
  /** Of the parts of open uploads. */
  openBytes: number;
}

/** What a project holds. */
export interface ProjectUsage {
  project: string;
  files: number;
  /** Of the files. */
  bytes: number;
  /** Of the parts of open uploads. */
  openBytes: number;
}

/** The names of the counters in the store. */
const COUNTERS: Record<string, "files" | "bytes" | "openBytes"> = {
  files: "files",
  bytes: "bytes",
  open_bytes: "openBytes",
};

/**
 * What each project holds, without what is being removed: all counters are read, and nothing else.
 *
 * @param removing By the id of a project, the drives of it that are being removed.
 */
export async function listUsage(
  db: Database,
  removing: ReadonlyMap<string, readonly string[]>,
): Promise<ProjectUsage[]> {
  const usages = new Map<string, ProjectUsage>();
  for (const project of removing.keys()) {
    usages.set(project, { project, files: 0, bytes: 0, openBytes: 0 });
  }
  const counters = db.reader.list<Deno.KvU64>(
    { prefix: prefixes.allUsage() },
    { batchSize: MAX_LIST_BATCH },
  );
  for await (const { key, value } of counters) {
    const [, project, drive, counter] = key;
    const usage = usages.get(String(project));
    if (usage === undefined || removing.get(String(project))?.includes(String(drive))) continue;
    const field = COUNTERS[String(counter)];
    if (field !== undefined) usage[field] += Number(value.value);
  }
  return [...usages.values()];
}

/** The drives of a project with what they hold, in the order of their names' UTF-8 bytes. */
export async function listDrives(db: Database, project: string): Promise<DriveUsage[]> {
  const drives = new Map<string, DriveUsage>();
  const counters = db.reader.list<Deno.KvU64>({ prefix: prefixes.usage(project) });
  for await (const { key, value } of counters) {
    const [, , drive, counter] = key;
    const name = String(drive);
    const usage = drives.get(name) ?? { name, files: 0, bytes: 0, openBytes: 0 };
    const field = COUNTERS[String(counter)];
    if (field !== undefined) drives.set(name, { ...usage, [field]: Number(value.value) });
  }
  return [...drives.values()];
}

/**
 * The counters of drives, and their sums for each project. Every operation that changes what they count corrects both.
 * `Operation.sum` needs no check, so operations on the same counters do not conflict, and share commits.
 *
 * @module
 */
import type { Database } from "../engine/database.ts";
import { keys, prefixes, type UsageCounter } from "../engine/keys.ts";
import { Operation } from "../engine/operation.ts";
import type { FileRecord, Place } from "../engine/records.ts";
import { type EntryReader, MAX_LIST_BATCH } from "../reads/read_queue.ts";

/** The counters of a drive, or their sums for a project. */
export interface Usage {
  files: number;
  /** Bytes of the files. */
  bytes: number;
  /** Bytes of the parts of open uploads. */
  openBytes: number;
  trashFiles: number;
  trashBytes: number;
}

export interface ProjectUsage extends Usage {
  openUploads: number;
}

export interface DriveUsage extends Usage {
  name: string;
}

export const NO_USAGE: Usage = { files: 0, bytes: 0, openBytes: 0, trashFiles: 0, trashBytes: 0 };

export const NO_PROJECT_USAGE: ProjectUsage = { ...NO_USAGE, openUploads: 0 };

/** Properties by the names of the counters in the store. */
export const COUNTERS: Record<string, keyof Usage> = {
  files: "files",
  bytes: "bytes",
  open_bytes: "openBytes",
  trash_files: "trashFiles",
  trash_bytes: "trashBytes",
};

export const USAGE_COUNTERS = Object.keys(COUNTERS) as UsageCounter[];

export const PROJECT_COUNTERS = [...USAGE_COUNTERS, "open_uploads"] as const;

const PROJECT_FIELDS: Record<string, keyof ProjectUsage> = {
  ...COUNTERS,
  open_uploads: "openUploads",
};

const encoder = new TextEncoder();

/**
 * Returns the bytes that a file counts for: its own, those of its thumbnail, and those of what callers of S3 and WebDAV
 * keep with it.
 */
export function countedBytes(
  { size, object, thumbnail, properties }: Pick<
    FileRecord,
    "size" | "object" | "thumbnail" | "properties"
  >,
): number {
  const all = size + (thumbnail?.size ?? 0);
  if (object === undefined && properties === undefined) return all;
  const fields = [object?.headers, object?.user, properties]
    .flatMap((texts) => Object.entries(texts ?? {}));
  return all + encoder.encode(fields.flat().join("")).byteLength;
}

/** Adds to a counter of a drive, which makes the drive exist, and to the sum of its project. */
export function addUsage(
  operation: Operation,
  { project, drive }: Pick<Place, "project" | "drive">,
  counter: UsageCounter,
  by: number,
): void {
  if (by === 0) return;
  operation.sum(keys.usage(project, drive, counter), by)
    .sum(keys.projectUsage(project, counter), by);
}

/**
 * Adds that a drive exists, and that something in it has changed that counts nowhere: those who follow its lists see that
 * the counter has another versionstamp.
 */
export function touchDrive(
  operation: Operation,
  { project, drive }: Pick<Place, "project" | "drive">,
): Operation {
  return operation.sum(keys.usage(project, drive, "files"), 0);
}

/** Counts the change of a file. */
export function countUsage(
  operation: Operation,
  place: Place,
  before: FileRecord | null,
  after: FileRecord | null,
): void {
  const bytesOf = (record: FileRecord | null) => record === null ? 0 : countedBytes(record);
  const files = Number(after !== null) - Number(before !== null);
  if (files === 0) touchDrive(operation, place);
  else addUsage(operation, place, "files", files);
  addUsage(operation, place, "bytes", bytesOf(after) - bytesOf(before));
}

/** Counts a file that comes into the trash or leaves it. */
export function countTrash(
  operation: Operation,
  place: Place,
  record: FileRecord,
  files: 1 | -1,
): void {
  addUsage(operation, place, "trash_files", files);
  addUsage(operation, place, "trash_bytes", files * countedBytes(record));
}

/**
 * Returns the operation that takes a drive out of the sums of its project and deletes its counters; `undefined` if it
 * has none. Only for a drive that is being deleted, as nothing else changes its counters.
 */
export async function discountStep(
  reader: { list<T>(selector: Deno.KvListSelector): AsyncIterable<Deno.KvEntry<T>> },
  project: string,
  drive: string,
): Promise<Operation | undefined> {
  const prefix = prefixes.all("usage", project, drive);
  const counters = await Array.fromAsync(reader.list<Deno.KvU64>({ prefix }));
  if (counters.length === 0) return undefined;
  const step = new Operation();
  for (const { key, value, versionstamp } of counters) {
    const sum = keys.projectUsage(project, key.at(-1) as UsageCounter);
    step.check(key, versionstamp).delete(key).sum(sum, -countOf(value));
  }
  return step;
}

/** Adds that the sums of a project are deleted, after all that they count. */
export function deleteSums(operation: Operation, project: string): Operation {
  for (const counter of PROJECT_COUNTERS) operation.delete(keys.projectUsage(project, counter));
  return operation;
}

/** Returns by how much an operation changes the sums of a project. */
export function changeOf(operation: Operation, project: string): ProjectUsage {
  return projectUsageOf(
    PROJECT_COUNTERS.map((counter) => [
      counter,
      operation.summed(keys.projectUsage(project, counter)),
    ]),
  );
}

/** Returns the sums of a project at one moment. */
export async function readUsage(reads: EntryReader, project: string): Promise<ProjectUsage> {
  const counters = PROJECT_COUNTERS.map((counter) => keys.projectUsage(project, counter));
  const entries = await reads.get<Deno.KvU64[]>(counters);
  return projectUsageOf(entries.map(({ key, value }) => [key.at(-1), countOf(value)]));
}

/** Returns the sums of all projects that have some. */
export async function listUsage(db: Database): Promise<Map<string, ProjectUsage>> {
  const usages = new Map<string, ProjectUsage>();
  const entries = db.reader.list<Deno.KvU64>(
    { prefix: prefixes.all("project_usage") },
    { batchSize: MAX_LIST_BATCH },
  );
  for await (const { key: [, id, counter], value } of entries) {
    const project = String(id);
    const usage = projectUsageOf([[counter, countOf(value)]], usages.get(project));
    usages.set(project, usage);
  }
  return usages;
}

function projectUsageOf(
  counts: readonly [counter: unknown, count: number][],
  usage: ProjectUsage = { ...NO_PROJECT_USAGE },
): ProjectUsage {
  for (const [counter, count] of counts) {
    const field = PROJECT_FIELDS[String(counter)];
    if (field !== undefined) usage[field] = count;
  }
  return usage;
}

/** Returns the value of a counter; 0 if there is none, or an entry that is no counter. */
export function countOf(value: unknown): number {
  return value instanceof Deno.KvU64 ? Number(value.value) : 0;
}

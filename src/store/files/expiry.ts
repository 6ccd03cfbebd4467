/**
 * Files with a deadline. From its deadline on such a file is absent for every caller (`isPresent`), at that very moment
 * and without any work. An index by deadline finds the expired files, which `ExpiredFiles` deletes soon after. Until then
 * they are still in the counters, so that answers about the usage subtract what the index says (`listPresentDrives`).
 *
 * The operation that sets a record adds its index entry (`setExpiry`), and the one that replaces or deletes the record
 * removes it (`dropExpiry`).
 *
 * @module
 */
import type { Database } from "../engine/database.ts";
import { keys, ranges } from "../engine/keys.ts";
import { Operation } from "../engine/operation.ts";
import type { ProjectCache } from "../engine/project_cache.ts";
import type { DamageRecord, ExpiryRecord, FileRecord, Place } from "../engine/records.ts";
import { MAX_TRANSACTION_TRIES, transact } from "../engine/transact.ts";
import {
  type DriveUsage,
  listDrives,
  listUsage,
  type ProjectUsage,
  type Usage,
} from "../quotas/usage.ts";
import { type KvReader, MAX_LIST_BATCH } from "../reads/read_queue.ts";
import {
  type FileDescription,
  isPresent,
  redescribedRecord,
  validators,
  type WriteCondition,
} from "./file_record.ts";

/** What decides about the entry in the index. */
type Expiring = Pick<FileRecord, "version" | "expires" | "size">;

/** Called when a caller is told that a file is absent, although its record is still there. */
export type OnExpired = (place: Place, record: FileRecord) => Promise<void>;

/** Adds the index entry of a record to the operation that sets the record. Moving a file replaces the entry. */
export function setExpiry(
  operation: Operation,
  { project, drive, name }: Place,
  { version, expires, size }: Expiring,
): void {
  if (expires === undefined) return;
  const value: ExpiryRecord = { project, drive, name, size };
  operation.set(keys.expiry(expires, version), value);
}

/** Removes the index entry of a record in the operation that replaces or deletes the record. */
export function dropExpiry(operation: Operation, { version, expires }: Expiring): void {
  if (expires !== undefined) operation.delete(keys.expiry(expires, version));
}

/** Returns whether an entry of the index is that of a record. */
export function isIndexedBy(record: FileRecord | null, key: Deno.KvKey): record is FileRecord {
  const [, due, version] = key;
  return record !== null && record.expires === due && record.version === version;
}

/** Expired files that are still in the counters. */
interface ExpiredUsage {
  /** By project and drive. */
  drives: Map<string, Map<string, Pick<Usage, "files" | "bytes">>>;
  /** The versions of the files. */
  versions: string[];
}

/**
 * Reads counters, and what expired files have in them. A file that is swept leaves both in one operation, so the two are
 * of one moment if no file left in between.
 *
 * @param project The project that the counters are of; `undefined` for all. Files of others may leave at any time.
 */
async function readWithExpired<T>(
  db: Database,
  project: string | undefined,
  read: () => Promise<T>,
): Promise<{ counted: T; expired: ExpiredUsage }> {
  const now = Date.now();
  let expired = await readExpired(db, now, project);
  for (let tries = 1;; tries++) {
    const counted = await read();
    // An empty list stays empty: new deadlines lie in the future.
    if (expired.versions.length === 0) return { counted, expired };
    const before = expired.versions;
    expired = await readExpired(db, now, project);
    const isSame = before.length === expired.versions.length &&
      before.every((version, i) => version === expired.versions[i]);
    if (isSame || tries >= MAX_TRANSACTION_TRIES) return { counted, expired };
  }
}

async function readExpired(
  db: Database,
  now: number,
  wanted: string | undefined,
): Promise<ExpiredUsage> {
  const expired: ExpiredUsage = { drives: new Map(), versions: [] };
  const due = db.reader.list<ExpiryRecord>(ranges.expiryDue(now), { batchSize: MAX_LIST_BATCH });
  for await (const { key, value: { project, drive, size } } of due) {
    if (wanted !== undefined && project !== wanted) continue;
    const ofProject = expired.drives.get(project) ?? new Map();
    const { files, bytes } = ofProject.get(drive) ?? { files: 0, bytes: 0 };
    ofProject.set(drive, { files: files + 1, bytes: bytes + size });
    expired.drives.set(project, ofProject);
    expired.versions.push(String(key.at(-1)));
  }
  return expired;
}

/** Returns the names of a drive's files that have expired and were not deleted yet. */
export async function expiredNames(
  reader: KvReader,
  { project, drive }: Pick<Place, "project" | "drive">,
): Promise<Set<string>> {
  const names = new Set<string>();
  for await (const { value } of reader.list<ExpiryRecord>(ranges.expiryDue(Date.now()))) {
    if (value.project === project && value.drive === drive) names.add(value.name);
  }
  return names;
}

/** Returns the drives of a project and their usage without expired files, in the order of their names' UTF-8 bytes. */
export async function listPresentDrives(db: Database, project: string): Promise<DriveUsage[]> {
  const { counted, expired } = await readWithExpired(db, project, () => listDrives(db, project));
  const ofProject = expired.drives.get(project);
  if (ofProject === undefined) return counted;
  return counted.map((usage) => subtract(usage, ofProject.get(usage.name)));
}

/** Returns the usage of each project without expired files, as `listUsage` does. */
export async function listPresentUsage(
  db: Database,
  deleting: ReadonlyMap<string, readonly string[]>,
): Promise<ProjectUsage[]> {
  const { counted, expired } = await readWithExpired(db, undefined, () => listUsage(db, deleting));
  if (expired.drives.size === 0) return counted;
  return counted.map((usage) => {
    let left = usage;
    for (const [drive, ofDrive] of expired.drives.get(usage.project) ?? []) {
      if (!deleting.get(usage.project)?.includes(drive)) left = subtract(left, ofDrive);
    }
    return left;
  });
}

function subtract<T extends Usage>(
  usage: T,
  expired: Pick<Usage, "files" | "bytes"> = { files: 0, bytes: 0 },
): T {
  const { files, bytes } = usage;
  return { ...usage, files: files - expired.files, bytes: bytes - expired.bytes };
}

/** What a caller may change about a file that exists. What is `undefined` stays. */
export interface FileChanges {
  /** How long the file exists from now on, in milliseconds; `null` for ever. */
  lifetime?: number | null | undefined;
  /** The content type. */
  type?: string | undefined;
  /** The description of the file. It makes a new version in any case. */
  replace?: FileDescription | undefined;
}

/**
 * Changes a file. Its bytes stay where they are. A new deadline leaves version and times as they are; another content type
 * makes a new version, as caches have the former type.
 *
 * @returns `absent` if there is no such file, `refused` if the condition does not hold.
 * @throws {NoSuchProject}
 * @throws {BeingDeleted} if the drive is being deleted.
 */
export async function changeFile(
  { db, projects, onExpired }: { db: Database; projects: ProjectCache; onExpired: OnExpired },
  place: Place,
  changes: FileChanges,
  condition: WriteCondition,
): Promise<FileRecord | "absent" | "refused"> {
  let tries = 0;
  return await transact<FileRecord | "absent" | "refused">(db, async () => {
    if (tries++ > 0) projects.forget(place.project);
    const { unchanged } = await projects.requireWritable(place);
    const [file, damage] = await db.reads.get<[FileRecord, DamageRecord]>([
      keys.file(place),
      keys.damage(place),
    ]);
    const current = file.value;
    if (current === null) return { result: "absent" };
    if (!isPresent(current, Date.now())) {
      await onExpired(place, current);
      return { result: "absent" };
    }
    if (!condition(validators(current))) return { result: "refused" };
    const record = changedRecord(current, changes);
    const operation = new Operation().share(unchanged)
      .check(file.key, file.versionstamp)
      .set(file.key, record);
    dropExpiry(operation, current);
    setExpiry(operation, place, record);
    if (record.version === current.version) return { operation, result: record };
    // What is known about the bytes is kept under the version of the file.
    const { version } = record;
    if (record.sha256 === undefined) operation.set(keys.undigested(place), version);
    if (damage.value?.version === current.version) {
      operation.check(damage.key, damage.versionstamp)
        .set(damage.key, { ...damage.value, version } satisfies DamageRecord);
    }
    return { operation, result: record };
  });
}

function changedRecord(
  current: FileRecord,
  { lifetime, type = current.type, replace }: FileChanges,
): FileRecord {
  const isSame = replace === undefined && type === current.type;
  const description = replace ?? { type, object: current.object };
  const record = isSame ? current : redescribedRecord(current, description);
  if (lifetime === undefined) return record;
  const { expires: _, ...lasting } = record;
  return lifetime === null ? lasting : { ...lasting, expires: Date.now() + lifetime };
}

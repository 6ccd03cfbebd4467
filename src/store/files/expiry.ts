/**
 * Files with a deadline. From its deadline on such a file is absent for every caller (`isPresent`), at that very moment
 * and without any work. An index by deadline finds the expired files, which `ExpiredFiles` deletes soon after. Items of the
 * trash have the garbage journal in its place. Until they are deleted both are still in the counters, so that answers about
 * the usage subtract what the index and the journal say (`listPresentDrives`).
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
import type {
  DamageRecord,
  ExpiryRecord,
  FileRecord,
  Garbage,
  Place,
  TrashRecord,
} from "../engine/records.ts";
import { MAX_TRANSACTION_TRIES, transact } from "../engine/transact.ts";
import {
  type DriveUsage,
  listDrives,
  listUsage,
  type ProjectUsage,
  type Usage,
} from "../quotas/usage.ts";
import { type KvReader, MAX_LIST_BATCH, readMany } from "../reads/read_queue.ts";
import {
  type FileDescription,
  isPresent,
  redescribedRecord,
  validators,
  type WriteCondition,
} from "./file_record.ts";

/** Items of the trash that are looked at, or removed, at a time. */
const DUE_BATCH = 100;

/**
 * Entries of the garbage journal that a search for due items reads, at most: about 20 ms. The journal is longer only until
 * the next sweeps, after many files were deleted. Items beyond it count until they are removed.
 */
const MAX_DUE_ENTRIES = 2000;

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

/** The counters that expired files and items of the trash are in. */
type ExpiringUsage = Omit<Usage, "openBytes">;

const NO_EXPIRED: ExpiringUsage = { files: 0, bytes: 0, trashFiles: 0, trashBytes: 0 };

/** Expired files and items of the trash that are still in the counters. */
interface ExpiredUsage {
  /** By project and drive. */
  drives: Map<string, Map<string, ExpiringUsage>>;
  /** The versions of the files, and the ids of the items. */
  ids: string[];
}

/** Which expired files are read. */
interface ExpiredScope {
  /** Those whose deadline has come at this time, in milliseconds since 1970. */
  now: number;
  /** Those of this project; `undefined` for all. */
  project: string | undefined;
  /** Whether those in the trash are read as well. */
  hasTrash: boolean;
}

/**
 * Reads counters, and what expired files have in them. A file that is swept leaves both in one operation, so the two are
 * of one moment if no file left in between.
 *
 * @param project The project that the counters are of; `undefined` for all. Files of others may leave at any time.
 */
async function readWithExpired<T extends Usage>(
  db: Database,
  project: string | undefined,
  read: () => Promise<T[]>,
): Promise<{ counted: T[]; expired: ExpiredUsage }> {
  const scope: ExpiredScope = { now: Date.now(), project, hasTrash: false };
  let expired = await readExpired(db, scope);
  for (let tries = 1;; tries++) {
    const counted = await read();
    // While no item is counted, the journal, which may be long, need not be read.
    const needsTrash = !scope.hasTrash && counted.some(({ trashFiles }) => trashFiles > 0);
    // An empty list stays empty: new deadlines lie in the future.
    if (!needsTrash && expired.ids.length === 0) return { counted, expired };
    const before = expired.ids;
    scope.hasTrash ||= needsTrash;
    expired = await readExpired(db, scope);
    const isSame = !needsTrash && before.length === expired.ids.length &&
      before.every((id, i) => id === expired.ids[i]);
    if (isSame || tries >= MAX_TRANSACTION_TRIES) return { counted, expired };
  }
}

async function readExpired(
  db: Database,
  { now, project, hasTrash }: ExpiredScope,
): Promise<ExpiredUsage> {
  const expired: ExpiredUsage = { drives: new Map(), ids: [] };
  const due = db.reader.list<ExpiryRecord>(ranges.expiryDue(now), { batchSize: MAX_LIST_BATCH });
  for await (const { key, value } of due) {
    if (project !== undefined && value.project !== project) continue;
    addExpired(expired, value, String(key.at(-1)), { files: 1, bytes: value.size });
  }
  if (!hasTrash) return expired;
  for await (const batch of listDueTrash(db.reader, { now, project })) {
    for (const { key, value } of await readMany<TrashRecord>(db.reader, batch)) {
      // It was removed in between.
      if (value === null || isPresent(value, now)) continue;
      const [project = "", drive = "", id = ""] = key.slice(1).map(String);
      const counted = { trashFiles: 1, trashBytes: value.record.size };
      addExpired(expired, { project, drive }, id, counted);
    }
  }
  return expired;
}

function addExpired(
  { drives, ids }: ExpiredUsage,
  { project, drive }: Pick<Place, "project" | "drive">,
  id: string,
  more: Partial<ExpiringUsage>,
): void {
  const ofProject = drives.get(project) ?? new Map<string, ExpiringUsage>();
  const sum = { ...(ofProject.get(drive) ?? NO_EXPIRED) };
  sum.files += more.files ?? 0;
  sum.bytes += more.bytes ?? 0;
  sum.trashFiles += more.trashFiles ?? 0;
  sum.trashBytes += more.trashBytes ?? 0;
  drives.set(project, ofProject.set(drive, sum));
  ids.push(id);
}

/**
 * Yields the keys of items of the trash whose deadline has passed by the garbage journal, in batches. The items may be
 * removed at any time.
 */
export async function* listDueTrash(
  reader: KvReader,
  { now, project }: { now: number; project?: string | undefined },
): AsyncGenerator<Deno.KvKey[]> {
  let batch: Deno.KvKey[] = [];
  const options = { batchSize: MAX_LIST_BATCH, limit: MAX_DUE_ENTRIES };
  for await (const { value } of reader.list<Garbage>(ranges.garbageDue(now), options)) {
    if (value.kind !== "trash" || (project !== undefined && value.project !== project)) continue;
    if (batch.push(keys.trash(value.project, value.drive, value.id)) < DUE_BATCH) continue;
    yield batch;
    batch = [];
  }
  if (batch.length > 0) yield batch;
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

function subtract<T extends Usage>(usage: T, expired: ExpiringUsage = NO_EXPIRED): T {
  return {
    ...usage,
    files: usage.files - expired.files,
    bytes: usage.bytes - expired.bytes,
    trashFiles: usage.trashFiles - expired.trashFiles,
    trashBytes: usage.trashBytes - expired.trashBytes,
  };
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

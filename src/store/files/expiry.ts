/**
 * Files with a deadline. From its deadline on such a file is absent for every caller (`isPresent`), at that very moment
 * and without any work. An index by deadline finds the expired files, which `ExpiredFiles` deletes soon after; until then
 * the counters have them.
 *
 * The operation that sets a record adds its index entry (`setExpiry`), and the one that replaces or deletes the record
 * removes it (`dropExpiry`).
 *
 * @module
 */
import type { Database } from "../engine/database.ts";
import { StoreUnavailable } from "../engine/errors.ts";
import { keys } from "../engine/keys.ts";
import { Operation } from "../engine/operation.ts";
import type { ProjectCache } from "../engine/project_cache.ts";
import type { DamageRecord, FileProperties, FileRecord, Place } from "../engine/records.ts";
import { MAX_TRANSACTION_TRIES } from "../engine/transact.ts";
import type { Quotas } from "../quotas/quotas.ts";
import {
  type FileDescription,
  isPresent,
  redescribedRecord,
  requireReadable,
  unguarded,
  validators,
  type WriteCondition,
  type WriteGuard,
} from "./file_record.ts";
import { setFile } from "./names.ts";

/** What decides about the entry in the index. */
type Expiring = Pick<FileRecord, "version" | "expires">;

/** Adds the index entry of a record to the operation that sets the record. Moving a file replaces the entry. */
export function setExpiry(
  operation: Operation,
  { project, drive, name }: Place,
  { version, expires }: Expiring,
): void {
  if (expires === undefined) return;
  operation.set(keys.expiry(expires, version), { project, drive, name } satisfies Place);
}

/** Removes the index entry of a record in the operation that replaces or deletes the record. */
export function dropExpiry(operation: Operation, { version, expires }: Expiring): void {
  if (expires !== undefined) operation.delete(keys.expiry(expires, version));
}

/** What a caller may say about a file without making a new version; what is `undefined` goes. */
export interface Described {
  mtime: number | undefined;
  properties: FileProperties | undefined;
}

/** What a caller may change about a file that exists. What is `undefined` stays. */
export interface FileChanges {
  /** How long the file exists from now on, in milliseconds; `null` for ever. */
  lifetime?: number | null | undefined;
  type?: string | undefined;
  /** Changes what keeps the version: the caller's own time, and properties. */
  describe?: ((current: FileRecord) => Described) | undefined;
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
 * @throws {QuotaExceeded} if its metadata has more bytes than before, and the project no room for them.
 */
export async function changeFile(
  { db, projects, quotas }: { db: Database; projects: ProjectCache; quotas: Quotas },
  place: Place,
  changes: FileChanges,
  condition: WriteCondition,
  guard: WriteGuard = unguarded,
): Promise<FileRecord | "absent" | "refused"> {
  for (let tries = 0; tries < MAX_TRANSACTION_TRIES; tries++) {
    if (tries > 0) projects.forget(place.project);
    const project = await projects.requireWritable(place);
    const [file, damage] = await db.reads.get<[FileRecord, DamageRecord]>([
      keys.file(place),
      keys.damage(place),
    ]);
    requireReadable(place, file);
    const current = file.value;
    if (current === null || !isPresent(current, Date.now())) return "absent";
    if (!condition(validators(current))) return "refused";
    const record = changedRecord(current, changes);
    const operation = new Operation().share(project.unchanged, ...await guard())
      .unchanged(file);
    setFile(operation, project, place, file, record);
    dropExpiry(operation, current);
    setExpiry(operation, place, record);
    if (record.version !== current.version) {
      // What is known about the bytes is kept under the version of the file.
      const { version } = record;
      if (record.sha256 === undefined) operation.set(keys.undigested(place), version);
      if (damage.value?.version === current.version) {
        operation.unchanged(damage)
          .set(damage.key, { ...damage.value, version } satisfies DamageRecord);
      }
    }
    if ((await quotas.commit(project, place, operation)).ok) return record;
  }
  throw new StoreUnavailable("Too many concurrent changes of the same file");
}

function describedRecord(
  { mtime: _, properties: _replaced, ...kept }: FileRecord,
  { mtime, properties }: Described,
): FileRecord {
  return {
    ...kept,
    ...(mtime === undefined ? {} : { mtime }),
    ...(properties === undefined ? {} : { properties }),
  };
}

function changedRecord(
  current: FileRecord,
  { lifetime, type = current.type, replace, describe }: FileChanges,
): FileRecord {
  const isSame = replace === undefined && type === current.type;
  const description = replace ?? { type, object: current.object };
  const same = describe === undefined ? current : describedRecord(current, describe(current));
  const record = isSame ? same : redescribedRecord(same, description);
  if (lifetime === undefined) return record;
  const { expires: _, ...lasting } = record;
  return lifetime === null ? lasting : { ...lasting, expires: Date.now() + lifetime };
}

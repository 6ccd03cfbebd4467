/**
 * The session of an upload in parts: how it is found, how it expires, and how it ends with or without a file.
 *
 * @module
 */
import type { Database } from "../engine/database.ts";
import { StoreUnavailable, UploadRefused } from "../engine/errors.ts";
import { keys } from "../engine/keys.ts";
import { Operation } from "../engine/operation.ts";
import type { ProjectCache } from "../engine/project_cache.ts";
import type { Garbage, Place, UploadSession } from "../engine/records.ts";
import { MAX_TRANSACTION_TRIES } from "../engine/transact.ts";
import { addGarbage, setExpiring } from "../bytes/garbage.ts";
import { isVersion, VERSION_LENGTH } from "../bytes/versions.ts";
import { addUsage, touchDrive } from "../quotas/usage.ts";

/**
 * The deadline of an upload that was aborted or found to be expired, in milliseconds since 1970: the past by any clock.
 */
const LONG_AGO = 0;

/** A session with its versionstamp, which every change of the upload checks. */
export interface StoredSession {
  key: Deno.KvKey;
  versionstamp: string;
  session: UploadSession;
}

/** A session that is open, or completed and kept for as long as it would have been open. */
export type FoundSession = StoredSession & { completed: boolean };

/** The counter of the bytes of an upload's parts. Every part that arrives changes it. */
export type PartsRevision = Deno.KvEntryMaybe<Deno.KvU64>;

/** The journal entry that ends an upload after its deadline. */
export type UploadDeadline = Deno.KvEntry<Garbage & { kind: "upload" }>;

/** Ends an upload without a file. Returns `false` if it was completed or ended before. */
export type EndUpload = (deadline: UploadDeadline) => Promise<boolean>;

/**
 * Returns the session of an upload, open or completed.
 *
 * @throws {UploadRefused} if the drive has no such upload, it has expired, or it is of another file.
 */
export async function findSession(
  db: Database,
  { project, drive, name }: Place,
  id: string,
): Promise<FoundSession> {
  // Other text may be too long for a key.
  if (!isVersion(id)) throw noSuchUpload(id);
  const [open, completed] = await db.reads.get<[UploadSession, UploadSession]>([
    keys.upload(project, drive, id),
    keys.completedUpload(project, drive, id),
  ]);
  const { key, value, versionstamp } = open.value === null ? completed : open;
  if (value === null) throw noSuchUpload(id);
  const found = { key, versionstamp, session: value, completed: open.value === null };
  if (isExpired(value)) {
    await keepExpired(db, found);
    throw noSuchUpload(id);
  }
  if (value.name !== name) {
    throw new UploadRefused("other name", `The upload "${id}" is of a file with another name`);
  }
  return found;
}

/** Returns the session of an open upload. Throws as `findSession` does, and if the upload is completed. */
export async function findOpenSession(
  db: Database,
  place: Place,
  id: string,
): Promise<StoredSession> {
  const found = await findSession(db, place, id);
  if (!found.completed) return found;
  throw new UploadRefused("completed", `The upload "${id}" is complete: start a new one`);
}

/** Returns the session of an upload that begins. */
export function newSession(
  { name }: Place,
  ttl: number,
  { type, ...attributes }: { type: string | undefined } & Omit<Partial<UploadSession>, "type">,
): UploadSession {
  const created = Date.now();
  const typed = type === undefined ? {} : { type };
  return { name, ...typed, ...attributes, created, expires: created + ttl };
}

/**
 * Returns the start of an upload. The session gets a journal entry in place of an expiry of Deno KV: ending it must also
 * change the counters.
 */
export function startOf(
  { project, drive, name }: Place,
  id: string,
  session: UploadSession,
): Operation {
  const operation = new Operation()
    .sum(keys.projectUsage(project, "open_uploads"), 1)
    .set(keys.upload(project, drive, id), session)
    .set(keys.garbage(session.expires, id), { kind: "upload", project, drive, name, id });
  return touchDrive(operation, { project, drive });
}

/** Returns whether the deadline of a session has passed. */
export function isExpired({ expires }: UploadSession): boolean {
  return expires <= Date.now();
}

/**
 * Keeps a session that was found to be expired from coming back when the system clock is set back. A completed session is
 * deleted; an open one ends, with its parts, in the next sweep.
 */
export async function keepExpired(db: Database, found: FoundSession): Promise<void> {
  const { key, versionstamp, session, completed } = found;
  if (completed) await db.commit(new Operation().check(key, versionstamp).delete(key));
  else if (session.expires !== LONG_AGO) await db.commit(expire(found).operation);
}

/** Returns the operation that makes an open upload expired, and the journal entry that ends it from then on. */
export function expire(
  { key, versionstamp, session }: StoredSession,
): { operation: Operation; deadline: Deno.KvKey; value: Garbage & { kind: "upload" } } {
  const [project = "", drive = "", id = ""] = key.slice(1).map(String);
  const deadline = keys.garbage(LONG_AGO, id);
  const value = { kind: "upload" as const, project, drive, name: session.name, id };
  const operation = new Operation().check(key, versionstamp)
    .set(key, { ...session, expires: LONG_AGO } satisfies UploadSession)
    .delete(keys.garbage(session.expires, id))
    .set(deadline, value);
  return { operation, deadline, value };
}

/**
 * Adds that an upload is completed. Its session is kept until its deadline, so that completing it again has the same
 * answer.
 *
 * @param file The version and the deadline of the file.
 * @param unused Numbers of parts that are not in the file. Their bytes become garbage, in one entry of at most 50 KB.
 */
export function completeSession(
  operation: Operation,
  place: Place,
  id: string,
  { open, revision, file, unused }: {
    open: StoredSession;
    revision: PartsRevision;
    file: { version: string; expires: number | undefined };
    unused: number[];
  },
): void {
  const { project, drive } = place;
  const key = keys.completedUpload(project, drive, id);
  const { object: _, ...session } = open.session;
  const { expires: deadline } = session;
  const value: UploadSession = {
    ...session,
    fileVersion: file.version,
    ...(file.expires === undefined ? {} : { fileExpires: file.expires }),
  };
  // The journal entry with this deadline and id replaces the one that would end the upload.
  setExpiring(operation, place, { key, value, deadline, id });
  const garbage: Garbage = {
    kind: "parts",
    project,
    drive,
    name: place.name,
    id,
    ...(unused.length === 0 ? {} : { unused }),
  };
  addGarbage(operation, garbage, Date.now());
  endSession(operation, place, open);
  endParts(operation, place, revision);
}

/** Adds that an upload is no longer open. The operation fails if the session has changed since it was read. */
function endSession(
  operation: Operation,
  { project }: Pick<Place, "project">,
  { key, versionstamp }: Pick<StoredSession, "key" | "versionstamp">,
): void {
  operation.check(key, versionstamp)
    .delete(key)
    .sum(keys.projectUsage(project, "open_uploads"), -1);
}

/** Adds that the parts of an upload no longer count. The operation fails if they have changed since they were read. */
function endParts(
  operation: Operation,
  place: Pick<Place, "project" | "drive">,
  revision: PartsRevision,
): void {
  operation.unchanged(revision).delete(revision.key);
  addUsage(operation, place, "open_bytes", -receivedBytes(revision));
}

/** Returns how many bytes the parts of an upload have. */
export function receivedBytes({ value }: PartsRevision): number {
  return value === null ? 0 : Number(value.value);
}

/** Returns the error that says that there is no such upload. */
export function noSuchUpload(id: string): UploadRefused {
  const quoted = JSON.stringify(id.slice(0, 2 * VERSION_LENGTH));
  return new UploadRefused(
    "absent",
    `There is no upload ${quoted} in this drive: it never was, was aborted, or has expired`,
  );
}

/**
 * Returns the function that ends uploads which were aborted or have expired. One commit deletes the session, so that no
 * part can follow, and subtracts its bytes from the counters. The journal entry stays until the parts are deleted, too.
 */
export function uploadEnder(db: Database, projects: ProjectCache): EndUpload {
  return async ({ key, value, versionstamp }) => {
    const { project, drive, id } = value;
    for (let tries = 0; tries < MAX_TRANSACTION_TRIES; tries++) {
      const owner = await projects.find(project);
      const [deadline, session, revision] = await db.reads.get<
        [Garbage, UploadSession, Deno.KvU64]
      >([key, keys.upload(project, drive, id), keys.partsRevision(project, drive, id)]);
      if (deadline.versionstamp !== versionstamp) return false;
      // The session has ended before, and only its parts are left.
      if (session.value === null && revision.value === null) return true;
      const operation = new Operation().check(key, versionstamp);
      if (owner !== undefined) operation.share(owner.unchanged);
      if (session.value !== null) endSession(operation, value, session);
      // The counters of a drive that is being deleted are gone.
      const counts = session.value !== null && owner !== undefined &&
        !owner.deleting.includes(drive);
      if (counts) endParts(operation, value, revision);
      else operation.delete(revision.key);
      if ((await db.commit(operation)).ok) return true;
      projects.forget(project);
    }
    throw new StoreUnavailable("The upload could not be ended: its project kept changing");
  };
}

import type { Database } from "../engine/database.ts";
import { StoreUnavailable, UploadRefused } from "../engine/errors.ts";
import { keys } from "../engine/keys.ts";
import { Operation } from "../engine/operation.ts";
import type { ProjectCache } from "../engine/project_cache.ts";
import type { Garbage, Place, UploadSession } from "../engine/records.ts";
import { MAX_TRANSACTION_TRIES } from "../engine/transact.ts";
import { addGarbage, setExpiring } from "../files/garbage.ts";
import { isVersion, VERSION_LENGTH } from "../files/versions.ts";
import type { Quotas } from "../quotas/quotas.ts";

/** When the time of an upload ended that was aborted or found to be over, in milliseconds since 1970: before any clock. */
const LONG_AGO = 0;

/** A session as it is in the store: every change demands that it is still this one. */
export interface StoredSession {
  key: Deno.KvKey;
  versionstamp: string;
  session: UploadSession;
}

/** The session of an upload: open, or completed and known for as long as it would have lived. */
export type FoundSession = StoredSession & { completed: boolean };

/**
 * The session of an upload, open or completed.
 *
 * @throws {UploadRefused} if there is none of that id in the drive, its time is over, or it is of another file.
 */
export async function findSession(
  db: Database,
  { project, drive, name }: Place,
  id: string,
): Promise<FoundSession> {
  // What cannot be an id may be too long for a key.
  if (!isVersion(id)) throw absent(id);
  const [open, completed] = await db.reads.get<[UploadSession, UploadSession]>([
    keys.upload(project, drive, id),
    keys.completedUpload(project, drive, id),
  ]);
  const { key, value, versionstamp } = open.value === null ? completed : open;
  if (value === null) throw absent(id);
  if (isOver(value)) {
    await endExpired(db, { key, versionstamp, session: value, completed: open.value === null });
    throw absent(id);
  }
  if (value.name !== name) {
    throw new UploadRefused("other name", `The upload "${id}" is of a file with another name`);
  }
  return { key, versionstamp, session: value, completed: open.value === null };
}

/** Whether the time of a session is over. */
export function isOver({ expires }: UploadSession): boolean {
  return expires <= Date.now();
}

/**
 * Makes sure that a session that was found to be over stays over: a system clock that is set back does not revive it. The
 * next sweep ends it and removes its parts.
 */
export async function endExpired(db: Database, found: FoundSession): Promise<void> {
  const { key, versionstamp, session, completed } = found;
  if (completed) await db.commit(new Operation().check(key, versionstamp).delete(key));
  else if (session.expires !== LONG_AGO) await db.commit(expire(found).operation);
}

/** What makes the time of an open upload be over, and the entry that ends it from then on. */
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

/** The same, where it takes parts still. */
export async function findOpenSession(
  db: Database,
  place: Place,
  id: string,
): Promise<StoredSession> {
  const found = await findSession(db, place, id);
  if (!found.completed) return found;
  throw new UploadRefused("completed", `The upload "${id}" is complete: start a new one`);
}

/** Adds that the session is over and its file is there; it stays known as completed. Gives what `endSession` gives. */
export function completeSession(
  operation: Operation,
  place: Place,
  id: string,
  open: StoredSession,
  revision: PartsRevision,
): number {
  const { project, drive } = place;
  const key = keys.completedUpload(project, drive, id);
  const { expires: deadline } = open.session;
  // Takes the place of the entry that would end the upload.
  setExpiring(operation, place, { key, value: open.session, deadline, id });
  addGarbage(operation, { kind: "parts", ...place, id }, Date.now());
  return endSession(operation, place, open, revision);
}

/** The counter of the bytes of an upload's parts. */
export type PartsRevision = Deno.KvEntryMaybe<Deno.KvU64>;

/**
 * Adds that an upload is not open any more, provided that neither it nor its parts have changed since they were read.
 *
 * @returns By how many bytes the account of the project becomes smaller: `Quotas.commit` has to know.
 */
function endSession(
  operation: Operation,
  { project, drive }: Pick<Place, "project" | "drive">,
  { key, versionstamp, session: { number } }: StoredSession,
  revision: PartsRevision,
): number {
  operation.check(key, versionstamp)
    .delete(key)
    .check(revision.key, revision.versionstamp)
    .delete(revision.key)
    .delete(keys.openUpload(project, number));
  const bytes = receivedBytes(revision);
  if (bytes > 0) operation.sum(keys.usage(project, drive, "open_bytes"), -bytes);
  return bytes;
}

/** The bytes of an upload's parts. */
export function receivedBytes({ value }: PartsRevision): number {
  return value === null ? 0 : Number(value.value);
}

/** That there is no such upload. */
export function absent(id: string): UploadRefused {
  const quoted = JSON.stringify(id.slice(0, 2 * VERSION_LENGTH));
  return new UploadRefused(
    "absent",
    `There is no upload ${quoted} in this drive: it never was, was aborted, or has expired`,
  );
}

/** The entry that ends an upload when its time is over. */
export type UploadDeadline = Deno.KvEntry<Garbage & { kind: "upload" }>;

/** Ends an upload without a file; gives `false` where it was completed or ended meanwhile. */
export type EndUpload = (deadline: UploadDeadline) => Promise<boolean>;

/**
 * Ends uploads that were aborted or whose time is over: one commit ends the session, so that no part comes afterwards, and
 * gives back what it counted for. The entry of the deadline stays until the parts are removed, too.
 */
export class OverdueUploads {
  readonly #db: Database;
  readonly #projects: ProjectCache;
  readonly #quotas: Quotas;

  constructor(db: Database, projects: ProjectCache, quotas: Quotas) {
    this.#db = db;
    this.#projects = projects;
    this.#quotas = quotas;
  }

  readonly end: EndUpload = async ({ key, value, versionstamp }) => {
    const { project, drive, id } = value;
    for (let tries = 0; tries < MAX_TRANSACTION_TRIES; tries++) {
      const known = await this.#projects.find(project);
      const [deadline, session, revision] = await this.#db.reads.get<
        [Garbage, UploadSession, Deno.KvU64]
      >([key, keys.upload(project, drive, id), keys.partsRevision(project, drive, id)]);
      if (deadline.versionstamp !== versionstamp) return false;
      // Only its parts are left.
      if (session.value === null && revision.value === null) return true;
      const operation = new Operation().check(key, versionstamp);
      const bytes = session.value === null ? 0 : endSession(operation, value, {
        key: session.key,
        versionstamp: session.versionstamp,
        session: session.value,
      }, revision);
      if (session.value === null) operation.delete(revision.key);
      if (known !== undefined) operation.share(known.unchanged);
      // What is being removed does not count against a quota any more.
      const counts = known !== undefined && !known.deleting.includes(drive);
      const { ok } = counts
        ? await this.#quotas.commit(known, value, operation, { more: -bytes })
        : await this.#db.commit(operation);
      if (ok) return true;
      this.#projects.forget(project);
    }
    throw new StoreUnavailable("The upload could not be ended: its project kept changing");
  };
}

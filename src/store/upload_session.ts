import type { Database } from "./database.ts";
import { UploadRefused } from "./errors.ts";
import { throwAway } from "./garbage.ts";
import { keys } from "./keys.ts";
import { Operation } from "./operation.ts";
import { isVersion, VERSION_LENGTH } from "./receive.ts";
import type { Place, UploadSession } from "./records.ts";

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

/** Whether the time of a session is over, by the system's clock or because it was seen to be over before. */
export function isOver({ expires, isOver }: UploadSession): boolean {
  return isOver === true || expires <= Date.now();
}

/**
 * Marks a session that was found to be over, so that a system clock that is set back does not revive it. It ends, and its
 * parts go, when the sweeper comes to its entry of garbage.
 */
export async function endExpired(
  db: Database,
  { key, versionstamp, session, completed }: FoundSession,
): Promise<void> {
  const operation = new Operation().check(key, versionstamp);
  if (completed) operation.delete(key);
  else if (session.isOver !== true) operation.set(key, { ...session, isOver: true });
  else return;
  await db.commit(operation);
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
  const left = Math.max(1, open.session.expires - Date.now());
  operation.set(keys.completedUpload(project, drive, id), open.session, left)
    .delete(keys.garbage(open.session.expires, id));
  throwAway(operation, { kind: "parts", ...place, id }, Date.now());
  return endSession(operation, place, open, revision);
}

/** The counter of the bytes of an upload's parts. */
export type PartsRevision = Deno.KvEntryMaybe<Deno.KvU64>;

/**
 * Adds that an upload is not open any more, provided that neither it nor its parts have changed since they were read.
 *
 * @returns By how many bytes the account of the project becomes smaller: `Quotas.commit` has to know.
 */
export function endSession(
  operation: Operation,
  { project, drive }: Pick<Place, "project" | "drive">,
  { key, versionstamp, session: { number } }: StoredSession,
  revision: PartsRevision,
): number {
  operation.check(key, versionstamp)
    .delete(key)
    .check(revision.key, revision.versionstamp)
    .delete(revision.key);
  // It was never counted.
  if (number === undefined) return 0;
  operation.delete(keys.openUpload(project, number));
  const bytes = receivedBytes(revision);
  if (bytes > 0) operation.sum(keys.usage(project, drive, "open_bytes"), -bytes);
  return bytes;
}

/** The bytes of an upload's parts. Where an older version began to count them, it counted too few. */
export function receivedBytes({ value }: PartsRevision): number {
  return value === null ? 0 : Math.max(0, Number(BigInt.asIntN(64, value.value)));
}

/** That there is no such upload. */
export function absent(id: string): UploadRefused {
  const quoted = JSON.stringify(id.slice(0, 2 * VERSION_LENGTH));
  return new UploadRefused(
    "absent",
    `There is no upload ${quoted} in this drive: it never was, was aborted, or has expired`,
  );
}

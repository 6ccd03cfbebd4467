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
    await endExpired(db, key, versionstamp);
    throw absent(id);
  }
  if (value.name !== name) {
    throw new UploadRefused("other name", `The upload "${id}" is of a file with another name`);
  }
  return { key, versionstamp, session: value, completed: open.value === null };
}

/** Whether the time of a session is over by the system's clock. */
export function isOver({ expires }: UploadSession): boolean {
  return expires <= Date.now();
}

/**
 * Deletes a session that was found to be over, so that a system clock that is set back does not revive it. Its parts go
 * when the sweeper comes to its entry of garbage.
 */
export async function endExpired(
  db: Database,
  key: Deno.KvKey,
  versionstamp: string | null,
): Promise<void> {
  await db.commit(new Operation().check(key, versionstamp).delete(key));
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

/** Adds that the session is over; it stays known as completed. */
export function completeSession(
  operation: Operation,
  place: Place,
  id: string,
  { key, versionstamp, session }: StoredSession,
): void {
  const { project, drive } = place;
  const left = Math.max(1, session.expires - Date.now());
  operation.check(key, versionstamp)
    .delete(key)
    .set(keys.completedUpload(project, drive, id), session, left)
    .delete(keys.garbage(session.expires, id));
  throwAway(operation, { kind: "parts", ...place, id }, Date.now());
}

/** That there is no such upload. */
export function absent(id: string): UploadRefused {
  const quoted = JSON.stringify(id.slice(0, 2 * VERSION_LENGTH));
  return new UploadRefused(
    "absent",
    `There is no upload ${quoted} in this drive: it never was, was aborted, or has expired`,
  );
}

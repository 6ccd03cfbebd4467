import { UploadRefused } from "./errors.ts";
import { throwAway } from "./garbage.ts";
import { keys } from "./keys.ts";
import type { Operation } from "./operation.ts";
import { isVersion, VERSION_LENGTH } from "./receive.ts";
import type { Place, UploadSession } from "./records.ts";

/** A session as it is in the store: every change demands that it is still this one. */
export interface StoredSession {
  key: Deno.KvKey;
  versionstamp: string;
  session: UploadSession;
}

/**
 * The session of an upload, open or completed.
 *
 * @throws {UploadRefused} if there is none of that id in the drive, its time is over, or it is of another file.
 */
export async function findSession(
  kv: Deno.Kv,
  { project, drive, name }: Place,
  id: string,
): Promise<StoredSession> {
  // What cannot be an id may be too long for a key.
  if (!isVersion(id)) throw absent(id);
  const { key, value, versionstamp } = await kv.get<UploadSession>(keys.upload(project, drive, id));
  if (value === null || value.expires <= Date.now()) throw absent(id);
  if (value.name !== name) {
    throw new UploadRefused("other name", `The upload "${id}" is of a file with another name`);
  }
  return { key, versionstamp, session: value };
}

/** The same, where it takes parts still. */
export async function findOpenSession(
  kv: Deno.Kv,
  place: Place,
  id: string,
): Promise<StoredSession> {
  const found = await findSession(kv, place, id);
  if (!found.session.completed) return found;
  throw new UploadRefused("completed", `The upload "${id}" is complete: start a new one`);
}

/** Adds that the session is over; it stays known as completed for as long as it would have lived. */
export function completeSession(
  operation: Operation,
  place: Place,
  id: string,
  { key, versionstamp, session }: StoredSession,
): void {
  operation.check(key, versionstamp)
    .set(key, { ...session, completed: true }, Math.max(1, session.expires - Date.now()))
    .delete(keys.garbage(session.expires, id));
  throwAway(operation, { kind: "parts", ...place, id }, Date.now());
}

function absent(id: string): UploadRefused {
  const quoted = JSON.stringify(id.slice(0, 2 * VERSION_LENGTH));
  return new UploadRefused(
    "absent",
    `There is no upload ${quoted} in this drive: it never was, was aborted, or has expired`,
  );
}

import { MAX_KEY_HEADER } from "../drive/limits.ts";
import { hashSecret } from "../drive/secrets.ts";
import { type Field, joinedField } from "../http1/fields.ts";
import { sessionTokens } from "./session_cookie.ts";

/** What a caller shows in order to be let in. Of what is secret it keeps only the SHA-256. */
export interface Credentials {
  /** The key in `X-API-Key`: a project's has a `_`, an application's has none. */
  key?: { hash: string; isProjectKey: boolean } | undefined;
  /** SHA-256 of the tokens of sessions. */
  sessions: readonly string[];
  /** Whether a key was sent that is too long to be one. */
  isOverlong: boolean;
}

/** More sessions than this no browser sends: an application is below two paths at the most. */
const MAX_SESSIONS = 4;

/**
 * Reads what a request shows.
 *
 * @param cookies The names of the cookies whose sessions count; none where no session counts.
 */
export function readCredentials(
  fields: readonly Field[],
  cookies: readonly string[],
): Credentials {
  const key = joinedField(fields, "x-api-key") ?? "";
  const tokens = cookies.length === 0 ? [] : sessionTokens(fields, cookies);
  const sessions = tokens.slice(0, MAX_SESSIONS).map(hashSecret);
  if (key === "") return { sessions, isOverlong: false };
  if (key.length > MAX_KEY_HEADER) return { sessions, isOverlong: true };
  const hash = hashSecret(key);
  return { key: { hash, isProjectKey: key.includes("_") }, sessions, isOverlong: false };
}

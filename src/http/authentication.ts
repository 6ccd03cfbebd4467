import { Rights } from "../rules/rights.ts";
import { hashSecret, MAX_KEY_HEADER } from "../rules/secrets.ts";
import type { FoundProjectKey } from "../store/accounts/project_keys.ts";
import type { Store } from "../store/store.ts";
import { errors, type HttpError } from "./http_error.ts";
import { csrfOf, dashboardTokens, SESSION_HEADER } from "./network/request_secrets.ts";
import { isFromOtherSite, type WrongKeyLimiter } from "./network/wrong_keys.ts";
import type { RequestContext } from "./request_context.ts";

/** Knows the administrator's token by its SHA-256. */
export interface AdminToken {
  /** How the audit logs name who has it. */
  readonly actor: string;
  hasHash(hash: string): Promise<boolean>;
}

/** What is needed to check the credentials of a request. */
export interface AuthContext {
  administrator: AdminToken;
  store: {
    keys: Pick<Store["keys"], "find" | "isStillValid">;
    signIns: Pick<Store["signIns"], "find" | "isStillValid">;
  };
  wrongKeys: WrongKeyLimiter;
  address: () => string;
  /** Receives the prefix of an accepted key. */
  context: RequestContext;
}

/** The sender of a request, with access to everything, or to one project. */
export type Caller =
  & {
    rights: Rights;
    /** SHA-256 of the key or token. */
    hash: string;
    /** The session that the sender used, if it was one. */
    session?: { hash: string; id: string };
  }
  & ({ isAdministrator: true } | { isAdministrator: false; project: string });

/**
 * The sender of a request to a project. "Every drive request carries the header `X-Api-Key`": if it does, the key decides,
 * even beside the administrator's token. Without both, the session of a browser counts.
 *
 * @throws {HttpError} 401 without known credentials, 429 after too many unknown ones, 403 with a key of another project.
 */
export async function authenticateForProject(
  headers: Headers,
  project: string,
  auth: AuthContext,
): Promise<Caller> {
  const isByKey = headers.has("x-api-key") || bearerToken(headers) === undefined;
  const caller = isByKey
    ? await keyOrSession(headers, auth, errors.missingKey)
    : await authenticateCaller(headers, auth);
  if (!caller.isAdministrator && caller.project !== project) throw errors.wrongProject();
  return caller;
}

/**
 * Checks whether the credentials of an accepted request are still valid: they may have been revoked while the body was
 * received. Costs no read of the store while the request is young.
 *
 * @throws {HttpError} 401 if the key or token was revoked or has expired, or the session was ended.
 */
export async function reauthenticate(
  caller: Caller,
  { administrator, store: { keys, signIns }, context }: Omit<AuthContext, "wrongKeys" | "address">,
): Promise<void> {
  const { hash, session, rights: { expires = Infinity } } = caller;
  const age = performance.now() - context.began;
  const isEnded = session !== undefined && !await signIns.isStillValid(session.hash, age);
  if (caller.isAdministrator) {
    if (!isEnded && await administrator.hasHash(hash)) return;
    throw isEnded ? errors.sessionEnded() : errors.unknownToken();
  }
  if (!isEnded && await keys.isStillValid(hash, caller.project, age)) return;
  if (isEnded) throw errors.sessionEnded();
  throw errors.endedKey(expires <= Date.now() ? "expired" : "was revoked");
}

/**
 * The sender of a request, by the administrator's token if there is a bearer token, otherwise by the project key, or by
 * the session of a browser if there is no key either.
 *
 * @throws {HttpError} 401 without known credentials, 429 after too many unknown ones.
 */
export async function authenticateCaller(headers: Headers, auth: AuthContext): Promise<Caller> {
  const { administrator, context } = auth;
  const token = bearerToken(headers);
  if (token === undefined) return await keyOrSession(headers, auth, errors.missingCredentials);
  const hash = token.length <= MAX_KEY_HEADER ? hashSecret(token) : "";
  if (!await administrator.hasHash(hash)) throw keyRefusal(errors.unknownToken(), headers, auth);
  context.key = administrator.actor;
  return { isAdministrator: true, rights: Rights.all, hash };
}

/**
 * The sender of a request by the key in `X-Api-Key`, or by a session. The lookup is by SHA-256, so that its duration tells
 * a guesser nothing about the key.
 *
 * @param missing Returns the error for a request with neither.
 * @throws {HttpError} 401 without a known key or session, 429 after too many unknown keys.
 */
async function keyOrSession(
  headers: Headers,
  auth: AuthContext,
  missing: () => HttpError,
): Promise<Caller> {
  const key = headers.get("x-api-key") ?? "";
  if (key === "") {
    const caller = await sessionCaller(headers, auth);
    if (caller === undefined) throw missing();
    return caller;
  }
  const hash = key.length > MAX_KEY_HEADER ? "" : hashSecret(key);
  const found = hash === "" ? undefined : await auth.store.keys.find(hash);
  if (found === undefined) throw keyRefusal(errors.unknownKey(), headers, auth);
  return callerOf(found, hash, auth);
}

function callerOf(key: FoundProjectKey, hash: string, { context }: AuthContext): Caller {
  context.key = key.prefix;
  return { isAdministrator: false, project: key.project, rights: key.rights, hash };
}

/**
 * The sender by a cookie and the header that belongs to it. Other sites can make a browser send the cookie, but not the
 * header: without it, or with that of another session, the cookie counts for nothing. Neither counts as a wrong key, or a
 * site could use up the attempts of its visitors.
 *
 * @throws {HttpError} 401 if the session has ended.
 */
async function sessionCaller(headers: Headers, auth: AuthContext): Promise<Caller | undefined> {
  const csrf = headers.get(SESSION_HEADER);
  if (csrf === null) return undefined;
  const token = dashboardTokens(headers).find((each) => csrfOf(each) === csrf);
  if (token === undefined) return undefined;
  const found = await auth.store.signIns.find(hashSecret(token));
  if (found === undefined) throw errors.sessionEnded();
  const { hash, key, record: { id, owner } } = found;
  const session = { hash, id };
  auth.context.usesSession = true;
  if (key !== undefined) return { ...callerOf(key, owner.hash, auth), session };
  auth.context.key = "admin";
  return { isAdministrator: true, rights: Rights.all, hash: owner.hash, session };
}

/** The scheme's name is not case-sensitive (RFC 9110, 11.1). */
const BEARER = /^bearer +(.+)$/i;

/** The bearer token of a request, if it has one. */
export function bearerToken(headers: Headers): string | undefined {
  return BEARER.exec(headers.get("authorization") ?? "")?.[1];
}

/** Counts a wrong key and returns the error for it: the given one, or 429 after too many from the same network. */
export function keyRefusal(
  error: HttpError,
  headers: Headers,
  { wrongKeys, address }: Pick<AuthContext, "wrongKeys" | "address">,
): HttpError {
  if (isFromOtherSite(headers.get("sec-fetch-site"))) return error;
  const wait = wrongKeys.record(address());
  return wait === undefined ? error : errors.tooManyWrongKeys(wait);
}

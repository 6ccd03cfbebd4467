import { hashSecret, MAX_KEY_HEADER } from "../rules/secrets.ts";
import { errors, type HttpError } from "./http_error.ts";
import type { WrongKeyLimiter } from "./network/wrong_keys.ts";
import type { RequestContext } from "./request_context.ts";

/** Finds the project that a key opens, by the key's SHA-256. */
export interface KeyRing {
  find(keyHash: string): Promise<{ project: string; prefix: string } | undefined>;
}

/** Finds out whether a key was revoked. */
export interface KeyStatus {
  /** Whether a key that opened the project `age` milliseconds ago still does. */
  isStillValid(keyHash: string, project: string, age: number): Promise<boolean>;
}

/** What is needed to judge a key that came with a request. */
export interface AuthContext {
  keys: KeyRing;
  wrongKeys: WrongKeyLimiter;
  /** Where the request comes from. */
  address: () => string;
  /** Gets the prefix of the key, if it is known. */
  context: RequestContext;
}

/**
 * The project that the `X-Api-Key` of a request opens. A key is looked up by its SHA-256, which nobody can steer character by
 * character: how long it takes says nothing of what differs.
 *
 * @throws {HttpError} 401 with a key that is not known, 429 after too many of them, 401 without one.
 */
async function projectOfKey(headers: Headers, entrance: AuthContext): Promise<string> {
  const key = headers.get("x-api-key") ?? "";
  if (key === "") throw errors.missingKey();
  const opened = key.length > MAX_KEY_HEADER
    ? undefined
    : await entrance.keys.find(hashSecret(key));
  if (opened === undefined) throw keyRefusal(errors.unknownKey(), entrance);
  entrance.context.key = opened.prefix;
  return opened.project;
}

/**
 * Lets a request through if its `X-Api-Key` opens the project.
 *
 * @throws {HttpError} 401 or 429 as above, 403 with a key of another project.
 */
export async function requireProjectKey(
  headers: Headers,
  project: string,
  entrance: AuthContext,
): Promise<void> {
  if (await projectOfKey(headers, entrance) !== project) throw errors.wrongProject();
}

/**
 * The same for a request that came in some time ago: its key may have been revoked while its body was received. While that
 * is not long ago, it costs no read of the store.
 *
 * @throws {HttpError} 401 where the key does not open the project any more.
 */
export async function reauthenticate(
  headers: Headers,
  project: string,
  { keys, context }: { keys: KeyStatus; context: RequestContext },
): Promise<void> {
  const hash = hashSecret(headers.get("x-api-key") ?? "");
  const age = performance.now() - context.began;
  if (!await keys.isStillValid(hash, project, age)) throw errors.revokedKey();
}

/** The error for a wrong key: the given one, or 429 after too many from its network. */
export function keyRefusal(
  error: HttpError,
  { wrongKeys, address }: Pick<AuthContext, "wrongKeys" | "address">,
): HttpError {
  const wait = wrongKeys.record(address());
  return wait === undefined ? error : errors.tooManyWrongKeys(wait);
}

/** Knows the administrator's token by its SHA-256. */
export interface AdminTokens {
  isAdminToken(hash: string): Promise<boolean>;
}

/** Who administers: everything, or the one project that a key opens. */
export type Caller = { isAdministrator: true } | { isAdministrator: false; project: string };

/** The scheme's name is not case-sensitive (RFC 9110, 11.1). */
const BEARER = /^bearer +(.+)$/i;

/** What a request has in place of the administrator's token, if anything. */
export function bearerToken(headers: Headers): string | undefined {
  return BEARER.exec(headers.get("authorization") ?? "")?.[1];
}

/** Whether a request comes with what may be the administrator's token. */
export function hasBearerToken(headers: Headers): boolean {
  return bearerToken(headers) !== undefined;
}

/**
 * Who sends a request: by the administrator's token where there is one, else by the project key.
 *
 * @throws {HttpError} 401 without either or with one that is not known, 429 after too many of those.
 */
export async function authenticateCaller(
  headers: Headers,
  tokens: AdminTokens,
  entrance: AuthContext,
): Promise<Caller> {
  const token = bearerToken(headers);
  if (token !== undefined) {
    const isKnown = token.length <= MAX_KEY_HEADER && await tokens.isAdminToken(hashSecret(token));
    if (!isKnown) throw keyRefusal(errors.unknownToken(), entrance);
    entrance.context.key = "admin";
    return { isAdministrator: true };
  }
  if ((headers.get("x-api-key") ?? "") === "") throw errors.missingCredentials();
  return { isAdministrator: false, project: await projectOfKey(headers, entrance) };
}

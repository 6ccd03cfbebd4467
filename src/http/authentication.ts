import { Rights } from "../rules/rights.ts";
import { hashSecret, MAX_KEY_HEADER } from "../rules/secrets.ts";
import { errors, type HttpError } from "./http_error.ts";
import type { WrongKeyLimiter } from "./network/wrong_keys.ts";
import type { RequestContext } from "./request_context.ts";

/** A key that the store knows. */
export interface KnownKey {
  project: string;
  /** The beginning of its secret. */
  prefix: string;
  rights: Rights;
}

/** Looks up project keys by their SHA-256. */
export interface KeyRing {
  /** What a key opens; `undefined` for an unknown key. */
  find(keyHash: string): Promise<KnownKey | undefined>;
}

/** Knows which keys were revoked. */
export interface KeyStatus {
  /** Whether a key that was valid for the project `age` milliseconds ago still is. */
  isStillValid(keyHash: string, project: string, age: number): Promise<boolean>;
}

/** Knows the administrator's token by its SHA-256. */
export interface AdminToken {
  hasHash(hash: string): Promise<boolean>;
}

/** What is needed to check the credentials of a request. */
export interface AuthContext {
  keys: KeyRing;
  wrongKeys: WrongKeyLimiter;
  /** Returns the address of the client. */
  address: () => string;
  /** Receives the prefix of an accepted key. */
  context: RequestContext;
}

/** A sender with access to everything, or to one project. */
export type Caller =
  | { isAdministrator: true; rights: Rights }
  | { isAdministrator: false; project: string; rights: Rights };

/**
 * Requires a key of the project in `X-Api-Key`. Returns its rights.
 *
 * @throws {HttpError} 401 without a known key, 429 after too many unknown ones, 403 with a key of another project.
 */
export async function requireProjectKey(
  headers: Headers,
  project: string,
  auth: AuthContext,
): Promise<Rights> {
  const key = await knownKey(headers, auth);
  if (key.project !== project) throw errors.wrongProject();
  return key.rights;
}

/**
 * Checks whether the key of an accepted request is still valid: it may have been revoked while the body was received. Costs
 * no read of the store while the request is young.
 *
 * @throws {HttpError} 401 if the key was revoked or has expired.
 */
export async function reauthenticate(
  headers: Headers,
  project: string,
  { expires = Infinity }: Pick<Rights, "expires">,
  { keys, context }: { keys: KeyStatus; context: RequestContext },
): Promise<void> {
  const hash = hashSecret(headers.get("x-api-key") ?? "");
  const age = performance.now() - context.began;
  if (await keys.isStillValid(hash, project, age)) return;
  throw expires <= Date.now() ? errors.expiredKey() : errors.revokedKey();
}

/**
 * The sender of a request, by the administrator's token if there is a bearer token, otherwise by the project key.
 *
 * @throws {HttpError} 401 without known credentials, 429 after too many unknown ones.
 */
export async function authenticateCaller(
  headers: Headers,
  adminToken: AdminToken,
  auth: AuthContext,
): Promise<Caller> {
  const token = bearerToken(headers);
  if (token !== undefined) {
    const isKnown = token.length <= MAX_KEY_HEADER && await adminToken.hasHash(hashSecret(token));
    if (!isKnown) throw keyRefusal(errors.unknownToken(), auth);
    auth.context.key = "admin";
    return { isAdministrator: true, rights: Rights.all };
  }
  if ((headers.get("x-api-key") ?? "") === "") throw errors.missingCredentials();
  const { project, rights } = await knownKey(headers, auth);
  return { isAdministrator: false, project, rights };
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
  { wrongKeys, address }: Pick<AuthContext, "wrongKeys" | "address">,
): HttpError {
  const wait = wrongKeys.record(address());
  return wait === undefined ? error : errors.tooManyWrongKeys(wait);
}

/**
 * The key in `X-Api-Key`. The lookup is by SHA-256, so that its duration tells a guesser nothing about the
 * key.
 *
 * @throws {HttpError} 401 without a known key, 429 after too many unknown ones.
 */
async function knownKey(headers: Headers, auth: AuthContext): Promise<KnownKey> {
  const key = headers.get("x-api-key") ?? "";
  if (key === "") throw errors.missingKey();
  const found = key.length > MAX_KEY_HEADER ? undefined : await auth.keys.find(hashSecret(key));
  if (found === undefined) throw keyRefusal(errors.unknownKey(), auth);
  auth.context.key = found.prefix;
  return found;
}

import { hashSecret, MAX_KEY_HEADER } from "../rules/secrets.ts";
import { errors, type HttpError } from "./http_error.ts";
import type { WrongKeyLimiter } from "./network/wrong_keys.ts";
import type { RequestContext } from "./request_context.ts";

/** Looks up project keys by their SHA-256. */
export interface KeyRing {
  /** The project of a key, and the key's prefix; `undefined` for an unknown key. */
  find(keyHash: string): Promise<{ project: string; prefix: string } | undefined>;
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
export type Caller = { isAdministrator: true } | { isAdministrator: false; project: string };

/**
 * Requires a key of the project in `X-Api-Key`.
 *
 * @throws {HttpError} 401 without a known key, 429 after too many unknown ones, 403 with a key of another project.
 */
export async function requireProjectKey(
  headers: Headers,
  project: string,
  auth: AuthContext,
): Promise<void> {
  if (await projectOfKey(headers, auth) !== project) throw errors.wrongProject();
}

/**
 * Checks whether the key of an accepted request is still valid: it may have been revoked while the body was received. Costs
 * no read of the store while the request is young.
 *
 * @throws {HttpError} 401 if the key was revoked.
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
    return { isAdministrator: true };
  }
  if ((headers.get("x-api-key") ?? "") === "") throw errors.missingCredentials();
  return { isAdministrator: false, project: await projectOfKey(headers, auth) };
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
 * The project of the key in `X-Api-Key`. The lookup is by SHA-256, so that its duration tells a guesser nothing about the
 * key.
 *
 * @throws {HttpError} 401 without a known key, 429 after too many unknown ones.
 */
async function projectOfKey(headers: Headers, auth: AuthContext): Promise<string> {
  const key = headers.get("x-api-key") ?? "";
  if (key === "") throw errors.missingKey();
  const found = key.length > MAX_KEY_HEADER ? undefined : await auth.keys.find(hashSecret(key));
  if (found === undefined) throw keyRefusal(errors.unknownKey(), auth);
  auth.context.key = found.prefix;
  return found.project;
}

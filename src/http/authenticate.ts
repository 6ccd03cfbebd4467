import { MAX_KEY_HEADER } from "../drive/limits.ts";
import { hashSecret } from "../drive/secrets.ts";
import { errors, type HttpError } from "./http_error.ts";
import type { Visit } from "./visit.ts";
import type { WrongKeys } from "./wrong_keys.ts";

/** Finds the project that a key opens, by the key's SHA-256. */
export interface KeyRing {
  opens(keyHash: string): Promise<{ project: string; prefix: string } | undefined>;
}

/** Finds out whether a key was revoked. */
export interface StandingKeys {
  /** Whether a key that opened the project `age` milliseconds ago still does. */
  stillOpens(keyHash: string, project: string, age: number): Promise<boolean>;
}

/** What is needed to judge a key that came with a request. */
export interface Entrance {
  keys: KeyRing;
  wrongKeys: WrongKeys;
  /** Where the request comes from. */
  address: () => string;
  /** Gets the prefix of the key, if it is known. */
  visit: Visit;
}

/**
 * The project that the `X-Api-Key` of a request opens. A key is looked up by its SHA-256, which nobody can steer character by
 * character: how long it takes says nothing of what differs.
 *
 * @throws {HttpError} 401 with a key that is not known, 429 after too many of them, 401 without one.
 */
export async function openedBy(headers: Headers, entrance: Entrance): Promise<string> {
  const key = headers.get("x-api-key") ?? "";
  if (key === "") throw errors.noKey();
  const opened = key.length > MAX_KEY_HEADER
    ? undefined
    : await entrance.keys.opens(hashSecret(key));
  if (opened === undefined) throw refusal(errors.unknownKey(), entrance);
  entrance.visit.key = opened.prefix;
  return opened.project;
}

/**
 * Lets a request through if its `X-Api-Key` opens the project.
 *
 * @throws {HttpError} 401 or 429 as above, 403 with a key of another project.
 */
export async function authenticate(
  headers: Headers,
  project: string,
  entrance: Entrance,
): Promise<void> {
  if (await openedBy(headers, entrance) !== project) throw errors.otherProject();
}

/**
 * The same for a request that came in some time ago: its key may have been revoked while its body was received. While that
 * is not long ago, it costs no read of the store.
 *
 * @throws {HttpError} 401 where the key does not open the project any more.
 */
export async function authenticateAgain(
  headers: Headers,
  project: string,
  { keys, visit }: { keys: StandingKeys; visit: Visit },
): Promise<void> {
  const hash = hashSecret(headers.get("x-api-key") ?? "");
  const age = performance.now() - visit.began;
  if (!await keys.stillOpens(hash, project, age)) throw errors.revokedKey();
}

/** The error for a wrong key: the given one, or 429 after too many from its network. */
export function refusal(
  error: HttpError,
  { wrongKeys, address }: Pick<Entrance, "wrongKeys" | "address">,
): HttpError {
  const wait = wrongKeys.refuse(address());
  return wait === undefined ? error : errors.tooManyWrongKeys(wait);
}

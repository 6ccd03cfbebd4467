import { MAX_KEY_HEADER } from "../drive/limits.ts";
import { hashSecret } from "../drive/secrets.ts";
import { errors } from "./http_error.ts";

/** Finds the project that a key opens, by the key's SHA-256. */
export interface KeyRing {
  projectOf(keyHash: string): Promise<string | undefined>;
}

/**
 * Lets a request through if its `X-Api-Key` opens the project. A key is looked up by its SHA-256, which nobody can steer
 * character by character: how long it takes says nothing of what differs.
 *
 * @throws {HttpError} 401 without a key or with one that is not known, 403 with one of another project.
 */
export async function authenticate(
  headers: Headers,
  project: string,
  keyRing: KeyRing,
): Promise<void> {
  const key = headers.get("x-api-key") ?? "";
  if (key === "") throw errors.noKey();
  if (key.length > MAX_KEY_HEADER) throw errors.unknownKey();
  const owner = await keyRing.projectOf(hashSecret(key));
  if (owner === undefined) throw errors.unknownKey();
  if (owner !== project) throw errors.otherProject();
}

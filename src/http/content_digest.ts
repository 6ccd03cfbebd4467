import { errors } from "./http_error.ts";

/** A SHA-256 in base64: 32 bytes are 43 characters and one for padding. */
const SHA_256 = /^:([A-Za-z0-9+/]{43}=):$/;

/**
 * The SHA-256 in base64 that `Content-Digest` (RFC 9530) names for the body; `undefined` where it names none. Other
 * algorithms are passed over.
 *
 * @throws {HttpError} 400 where the header is not well formed.
 */
export function expectedDigest(headers: Headers): string | undefined {
  const header = headers.get("content-digest");
  let expected: string | undefined;
  for (const member of header?.split(",") ?? []) {
    const [, algorithm, value = ""] = /^\s*([a-z*][a-z0-9_.*-]*)=(\S+)\s*$/.exec(member) ?? [];
    if (algorithm === undefined || !/^:[A-Za-z0-9+/]*={0,2}:$/.test(value)) {
      throw errors.badDigest();
    }
    if (algorithm !== "sha-256") continue;
    expected = SHA_256.exec(value)?.[1];
    if (expected === undefined) throw errors.badDigest();
  }
  return expected;
}

/** @throws {HttpError} 400 where a digest was named and is not the one of the bytes that came. */
export function assertDigest(expected: string | undefined, actual: string): void {
  if (expected !== undefined && expected !== actual) throw errors.digestMismatch();
}

/** The value of `Repr-Digest` for a SHA-256 in base64. */
export function formatDigest(sha256: string): string {
  return `sha-256=:${sha256}:`;
}

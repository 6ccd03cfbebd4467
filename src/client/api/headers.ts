import { invalidArgument } from "./error.ts";

/**
 * Conditions on the present version of a file. ETags may have the quotes of headers or not.
 *
 * @example
 * ```ts
 * await photos.put("a.txt", "Hello");
 * const conditions: Conditions = { ifMatch: (await photos.head("a.txt"))?.etag };
 * await photos.change("a.txt", { expiresIn: 3600 }, conditions);
 * ```
 */
export interface Conditions {
  /** Go on only if the file has this ETag. */
  ifMatch?: string | undefined;
  /** Go on only if the file has another ETag; with `*`, only if there is none. */
  ifNoneMatch?: string | undefined;
}

export function conditionsOf(
  { ifMatch, ifNoneMatch }: Conditions,
): Record<string, string | undefined> {
  return { "If-Match": quoted(ifMatch), "If-None-Match": quoted(ifNoneMatch) };
}

/** Returns an ETag as headers have it; lists of the API leave out the quotes. */
function quoted(etag: string | undefined): string | undefined {
  return etag === undefined || etag === "*" || etag.includes('"') ? etag : `"${etag}"`;
}

/** Returns a time as the API takes it: RFC 3339 in UTC, to milliseconds. @throws {KvdriveError} if it is none. */
export function timeOf(time: Date | number | string | undefined): string | undefined {
  if (time === undefined) return undefined;
  const date = new Date(time);
  if (!Number.isNaN(date.getTime())) return date.toISOString();
  throw invalidArgument(`Bad time ${JSON.stringify(time)}: give a Date, or 2026-04-22T11:50:08Z`);
}

/** Returns options as fields of the API: `expiresIn` is `expires_in`. Absent ones are left out of JSON. */
export function fieldsOf(options: object): Record<string, unknown> {
  const entries = Object.entries(options).map(([name, value]: [string, unknown]) => [
    name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
    value,
  ]);
  return Object.fromEntries(entries);
}

/** Returns the SHA-256 of bytes in base64; `undefined` where browsers have none: on pages of plain `http://`. */
export async function sha256Of(bytes: Uint8Array): Promise<string | undefined> {
  const subtle: SubtleCrypto | undefined = globalThis.crypto?.subtle;
  if (subtle === undefined) return undefined;
  const hash = await subtle.digest("SHA-256", bytes as Uint8Array<ArrayBuffer>);
  return btoa(String.fromCharCode(...new Uint8Array(hash)));
}

/** Returns the header that makes the server check bytes. */
export function digestHeader(sha256: string | undefined): string | undefined {
  return sha256 === undefined ? undefined : `sha-256=:${sha256}:`;
}

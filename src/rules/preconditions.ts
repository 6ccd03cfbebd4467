/**
 * Conditional requests (RFC 9110, 13). `@std/http/etag` covers neither dates nor entity tags without quotes, and splits
 * tags at commas inside the quotes.
 *
 * @module
 */
import { parseHttpDate } from "./dates.ts";

/** The state of a file that conditional requests are compared with. */
export interface Validators {
  /** The entity tag without its quotes. It is a strong one. */
  etag: string;
  /** The entity tag for S3 clients, without quotes; `undefined` if the file has only `etag`. */
  tag: string | undefined;
  /** Milliseconds since 1970. */
  modified: number;
  /**
   * Whether no other version was stored in the same second, so that the date is a strong validator (RFC 9110, 8.8.2.2).
   */
  dateIsStrong: boolean;
}

/** The conditional headers of a request as they came (RFC 9110, 13.1). */
export interface Preconditions {
  ifMatch: string | null;
  ifNoneMatch: string | null;
  ifModifiedSince: string | null;
  ifUnmodifiedSince: string | null;
}

/**
 * Returns whether `If-Match`, `If-Unmodified-Since` and `If-None-Match` allow a write; otherwise the answer is 412.
 *
 * @param current The file that the write would replace; `undefined` if there is none.
 */
export function allowsWrite(
  { ifMatch = null, ifNoneMatch = null, ifUnmodifiedSince = null }: Partial<Preconditions>,
  current: Validators | undefined,
): boolean {
  if (ifMatch !== null) {
    if (!matches(ifMatch, current, "strong")) return false;
  } else if (current !== undefined && isModifiedSince(current, ifUnmodifiedSince) === true) {
    return false;
  }
  return ifNoneMatch === null || !matches(ifNoneMatch, current, "weak");
}

/** Returns the status that the conditional headers of a read lead to, in the order of RFC 9110, 13.2.2. */
export function evaluateRead(asked: Preconditions, current: Validators): 200 | 304 | 412 {
  if (asked.ifMatch !== null) {
    if (!matches(asked.ifMatch, current, "strong")) return 412;
  } else if (isModifiedSince(current, asked.ifUnmodifiedSince) === true) {
    return 412;
  }
  if (asked.ifNoneMatch !== null) return matches(asked.ifNoneMatch, current, "weak") ? 304 : 200;
  return isModifiedSince(current, asked.ifModifiedSince) === false ? 304 : 200;
}

/** Returns whether `Range` applies: `If-Range` is absent, or names this very version (RFC 9110, 13.1.5). */
export function allowsRange(ifRange: string | null, current: Validators): boolean {
  if (ifRange === null) return true;
  const text = ifRange.trim();
  if (/^(W\/)?"/.test(text)) return text === `"${current.etag}"`;
  return current.dateIsStrong && parseHttpDate(text) === toSeconds(current.modified);
}

/**
 * Returns whether an `If-None-Match` or `If-Match` header lists an entity tag or is `*`.
 *
 * @param header The header; `null` lists nothing.
 * @param etag The entity tag without quotes.
 * @param comparison "weak" ignores the `W/` of a listed tag; "strong" never matches one (RFC 9110, 8.8.3.2).
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * assertEquals(listsEtag('"a", W/"b"', "b", "weak"), true);
 * assertEquals(listsEtag('"a", W/"b"', "b", "strong"), false);
 * ```
 */
export function listsEtag(
  header: string | null,
  etag: string,
  comparison: "strong" | "weak",
): boolean {
  if (header === null) return false;
  if (header.trim() === "*") return true;
  return parseEtags(header).some(({ tag, weak }) =>
    tag === etag && (comparison === "weak" || !weak)
  );
}

/** `*` matches any file; no header matches a file that does not exist. */
function matches(
  header: string,
  current: Validators | undefined,
  comparison: "strong" | "weak",
): boolean {
  return current !== undefined && listsEtag(header, current.etag, comparison);
}

/** The entity tags of a list. A tag without quotes counts as well, because our JSON answers show them that way. */
function parseEtags(header: string): { tag: string; weak: boolean }[] {
  return [...header.matchAll(/(W\/)?(?:"([^"]*)"|([^\s",]+))/g)].map(([, weak, quoted, bare]) => ({
    tag: quoted ?? bare ?? "",
    weak: weak !== undefined,
  }));
}

/** Returns whether the file changed after a date; `undefined` if the header is absent or no date, and so is ignored. */
function isModifiedSince(current: Validators, header: string | null): boolean | undefined {
  const date = header === null ? undefined : parseHttpDate(header);
  return date === undefined ? undefined : toSeconds(current.modified) > date;
}

function toSeconds(milliseconds: number): number {
  return Math.floor(milliseconds / 1000);
}

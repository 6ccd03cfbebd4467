import { parseHttpDate } from "./dates.ts";

/** The state of a file that conditional requests are compared with. */
export interface Validators {
  etag: string;
  /** Milliseconds since 1970. */
  modified: number;
  /** Whether no other version had the same second as its time, so that the time alone tells versions apart. */
  dateIsStrong: boolean;
}

/** The conditional headers of a request as they came (RFC 9110, 13.1). */
export interface Preconditions {
  ifMatch: string | null;
  ifNoneMatch: string | null;
  ifModifiedSince: string | null;
  ifUnmodifiedSince: string | null;
  ifRange: string | null;
}

/** Whether a write may go on over what is there (`undefined`: no file), by `If-Match`, `If-Unmodified-Since` and `If-None-Match`. */
export function allowsWrite(asked: Preconditions, current: Validators | undefined): boolean {
  if (asked.ifMatch !== null) {
    if (!matches(asked.ifMatch, current, "strong")) return false;
  } else if (current !== undefined && isModifiedSince(current, asked.ifUnmodifiedSince) === true) {
    return false;
  }
  return asked.ifNoneMatch === null || !matches(asked.ifNoneMatch, current, "weak");
}

/** What a read is to be answered with, in the order of RFC 9110, 13.2.2. */
export function evaluateRead(asked: Preconditions, current: Validators): 200 | 304 | 412 {
  if (asked.ifMatch !== null) {
    if (!matches(asked.ifMatch, current, "strong")) return 412;
  } else if (isModifiedSince(current, asked.ifUnmodifiedSince) === true) {
    return 412;
  }
  if (asked.ifNoneMatch !== null) return matches(asked.ifNoneMatch, current, "weak") ? 304 : 200;
  return isModifiedSince(current, asked.ifModifiedSince) === false ? 304 : 200;
}

/** Whether `Range` counts: there is no `If-Range`, or it names this very version (RFC 9110, 13.1.5). */
export function allowsRange(ifRange: string | null, current: Validators): boolean {
  if (ifRange === null) return true;
  const text = ifRange.trim();
  if (/^(W\/)?"/.test(text)) return text === `"${current.etag}"`;
  return current.dateIsStrong && parseHttpDate(text) === seconds(current.modified);
}

function matches(
  header: string,
  current: Validators | undefined,
  comparison: "strong" | "weak",
): boolean {
  if (current === undefined) return false;
  if (header.trim() === "*") return true;
  return parseEtags(header).some(({ tag, weak }) =>
    tag === current.etag && (comparison === "weak" || !weak)
  );
}

/** The entity tags of a list. One without quotes is taken as it stands: JSON answers give tags like that. */
function parseEtags(header: string): { tag: string; weak: boolean }[] {
  return [...header.matchAll(/(W\/)?(?:"([^"]*)"|([^\s",]+))/g)].map(([, weak, quoted, bare]) => ({
    tag: quoted ?? bare ?? "",
    weak: weak !== undefined,
  }));
}

/** Whether the file changed after the date; `undefined` where there is no date, or none that can be read (then it is ignored). */
function isModifiedSince(current: Validators, header: string | null): boolean | undefined {
  const date = header === null ? undefined : parseHttpDate(header);
  return date === undefined ? undefined : seconds(current.modified) > date;
}

function seconds(milliseconds: number): number {
  return Math.floor(milliseconds / 1000);
}

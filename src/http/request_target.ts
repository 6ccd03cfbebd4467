import { errors } from "./http_error.ts";

/** Path and query of a request as they came: `URL` would fold `..` and `%2e%2e`, which are names like others here. */
export interface RequestTarget {
  /** The segments of the path behind the first slash, percent-encoded. */
  segments: string[];
  /** Behind the question mark, percent-encoded. */
  query: string;
}

/** A host name or address with an optional port (RFC 3986, 3.2.2). Anything else could pass for a part of the path. */
const HOST = /^(?:[A-Za-z0-9._~!$&'()*+,;=-]*|\[[0-9A-Fa-f:.]+\])(?::(\d{0,5}))?$/;
const MAX_PORT = 65_535;

/** @throws {HttpError} 400 where the Host header is none. */
export function assertHost(headers: Headers): void {
  const host = HOST.exec(headers.get("host") ?? "");
  if (host === null || Number(host[1] ?? 0) > MAX_PORT) throw errors.badHost();
}

/** It says what was asked only where the Host header is one: see `assertHost`. */
export function parseTarget({ url }: Request): RequestTarget {
  const authority = url.indexOf("://") + 3;
  const question = url.indexOf("?", authority);
  const end = question === -1 ? url.length : question;
  const slash = url.indexOf("/", authority);
  const path = slash === -1 || slash > end ? "" : url.slice(slash + 1, end);
  return { segments: path.split("/"), query: url.slice(end + 1) };
}

/** @throws {HttpError} 400 where a segment of the path is not percent-encoded UTF-8. */
export function decodeSegment(segment: string): string {
  if (!segment.includes("%")) return segment;
  try {
    return decodeURIComponent(segment);
  } catch {
    throw errors.badEncoding("path");
  }
}

/** The same, where what cannot be decoded stands for itself. */
export function decodeLeniently(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}

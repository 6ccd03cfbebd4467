/**
 * Parameters that several operations have, and the headers that describe what a request asks for. SDKs move the headers
 * `x-amz-…` of a presigned request into its query, so that the client that uses the URL need not send them.
 *
 * @module
 */
import type { Query } from "../http/request_target.ts";
import { s3Errors } from "./s3_error.ts";
import { Buffer } from "node:buffer";

/** The most entries in a page (Amazon's limit). */
export const MAX_ENTRIES = 1000;

/** Estimated memory for an entry with a name of common length, read and written, in bytes. */
export const ENTRY_MEMORY = 1024;

/** Returns the number in a parameter, 0 or more; `absent` without it. @throws {S3Error} */
export function numberParameter(query: Query, name: string, absent: number): number {
  const text = query.one(name) || String(absent);
  if (/^\d{1,10}$/.test(text)) return Number(text);
  throw s3Errors.badArgument(name, text, "it must be a whole number");
}

/** Returns the number in a parameter, 1 to `max`; `undefined` without it. @throws {S3Error} */
export function positiveParameter(query: Query, name: string, max: number): number | undefined {
  const text = query.one(name);
  if (text === undefined) return undefined;
  const number = /^\d{1,10}$/.test(text) ? Number(text) : 0;
  if (number >= 1 && number <= max) return number;
  throw s3Errors.badArgument(name, text, `it must be 1 to ${max}`);
}

/** The size of a page. @throws {S3Error} */
export function pageLimit(query: Query, name: string): number {
  return Math.min(numberParameter(query, name, MAX_ENTRIES), MAX_ENTRIES);
}

/** How a list writes names. */
export interface NameEncoding {
  encoding: "url" | undefined;
  encoded: (name: string) => string;
}

/** Reads `encoding-type`: XML cannot have every character of a name. @throws {S3Error} */
export function nameEncoding(query: Query): NameEncoding {
  const encoding = query.one("encoding-type") || undefined;
  if (encoding === undefined) return { encoding, encoded: (name) => name };
  if (encoding === "url") return { encoding, encoded: encodeName };
  throw s3Errors.badArgument("encoding-type", encoding, "it must be url");
}

/** Percent-encodes a name as Amazon does it, which leaves slashes. */
function encodeName(name: string): string {
  return encodeURIComponent(name).replaceAll("%2F", "/")
    .replace(/[!'()]/g, (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`);
}

/**
 * Parameters that do not count as headers: those of the signature, and those about the body, which the signer does not
 * know. (SDKs put the checksum of an empty body there.)
 */
const OWN_PARAMETERS =
  /^x-amz-(?:algorithm|credential|date|expires|signedheaders|signature|security-token|content-sha256|decoded-content-length|trailer|sdk-checksum-algorithm|checksum-(?!algorithm$|mode$|type$).*)$/;

/**
 * Returns the headers of a request. Those in the query of a presigned one are added; a header that was sent comes first.
 *
 * @throws {S3Error} if a header cannot have a value of the query.
 * @throws {HttpError} 400 if a parameter is repeated.
 */
export function requestHeaders(sent: Headers, query: Query): Headers {
  if (query.all("X-Amz-Signature").length === 0) return sent;
  const headers = new Headers(sent);
  for (const name of query.names()) {
    const header = name.toLowerCase();
    if (!header.startsWith("x-amz-") || OWN_PARAMETERS.test(header) || sent.has(header)) continue;
    setHeader(headers, name, query.required(name));
  }
  return headers;
}

/** Sets a header as if it had arrived as UTF-8. @throws {S3Error} if no header can have its name or value. */
export function setHeader(headers: Headers, name: string, value: string): void {
  try {
    headers.set(name, Buffer.from(value).toString("latin1"));
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    throw s3Errors.badArgument(name, value, "no header can have it");
  }
}

/** A request as the server of `http1/` passes it on, or as the runtime does. */
interface ReceivedRequest extends Request {
  readonly lines?: readonly { lower: string; value: string }[];
}

/**
 * Returns the header lines of a request, as they were received if the server kept them: `Headers` joins lines of the same
 * name, and is slow to iterate.
 */
export function headerLines(request: ReceivedRequest): Iterable<readonly [string, string]> {
  return request.lines?.map(({ lower, value }) => [lower, value] as const) ?? request.headers;
}

/**
 * The headers that describe what a request asks for. SDKs move the headers `x-amz-…` of a presigned request into its
 * query, so that the client that uses the URL need not send them.
 *
 * @module
 */
import { Buffer } from "node:buffer";
import type { Query } from "../http/request_target.ts";
import { s3Errors } from "./s3_error.ts";

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

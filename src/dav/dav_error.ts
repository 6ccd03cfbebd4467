import { toHttpError } from "../http/error_response.ts";
import { HttpResponse } from "../http/responses/http_response.ts";
import { reasonPhrase } from "../http1/response_writer.ts";
import { RightMissing } from "../rules/rights.ts";
import { NoSuchDrive } from "../store/engine/errors.ts";
import { TooManyLocks } from "../store/locks/lock_store.ts";
import { escapeText } from "../xml/xml_writer.ts";

/** What clients that have not sent a key are asked for. */
const CHALLENGE = 'Basic realm="kvdrive", charset="UTF-8"';

/** An error response of WebDAV. The message is for people, the condition for programs. */
export class DavError extends Error {
  override readonly name = "DavError";

  /** @param condition The element inside `error` that says what was not met (RFC 4918, 16), as XML. */
  constructor(
    readonly status: number,
    message: string,
    readonly condition = "",
    readonly headers: Readonly<Record<string, string>> = {},
    override readonly cause?: unknown,
  ) {
    super(message);
  }
}

export const davErrors = {
  badRequest: (message: string) => new DavError(400, message),
  badPath: (problem: string) => new DavError(400, `The path ${problem}`),
  badXml: (problem: string) => new DavError(400, `The XML of the body ${problem}`),
  badHeader: (name: string, value: string, wanted: string) =>
    new DavError(400, `The header ${name} is ${JSON.stringify(value)}: it must be ${wanted}`),
  missingKey: () =>
    new DavError(
      401,
      "The key is missing: send it as the password of HTTP Basic, with any user name",
    ),
  plainConnection: () =>
    new DavError(
      403,
      "The connection is not encrypted, so it would show the key: use https, or allow it with --webdav-plain",
    ),
  forbidden: (message: string) => new DavError(403, message),
  notFound: () => new DavError(404, "There is no file or folder at this path"),
  methodNotAllowed: (message: string, allow: string) =>
    new DavError(405, message, "", { Allow: allow }),
  noParent: () =>
    new DavError(409, "The folder that it would be in does not exist: create that first"),
  conflict: (message: string) => new DavError(409, message),
  noSuchLock: () =>
    new DavError(
      409,
      "The path has no lock with this token: it has ended, or is on another path",
      "<D:lock-token-matches-request-uri/>",
    ),
  preconditionFailed: (message: string) => new DavError(412, message),
  ifFailed: () =>
    new DavError(412, "The resource is not in a state that the header If lists: nothing was done"),
  targetExists: () =>
    new DavError(412, "There is something at the destination, and Overwrite is F"),
  tooLarge: (limit: number) => new DavError(413, `The body is larger than ${limit} bytes`),
  hasBody: () =>
    new DavError(415, "The request has a body, which this method does not take: leave it out"),
  /** @param hrefs Where the locks are whose tokens were not sent. */
  locked: (hrefs: readonly string[]) =>
    new DavError(
      423,
      "It is locked: send the token of the lock in the header If, or try again once the lock has ended",
      `<D:lock-token-submitted>${hrefElements(hrefs)}</D:lock-token-submitted>`,
    ),
  conflictingLock: (hrefs: readonly string[]) =>
    new DavError(
      423,
      "It is locked already: try again once that lock has ended",
      `<D:no-conflicting-lock>${hrefElements(hrefs)}</D:no-conflicting-lock>`,
    ),
  otherServer: () =>
    new DavError(502, "The destination is not on this server: download it, and upload it there"),
} as const;

function hrefElements(hrefs: readonly string[]): string {
  return hrefs.map((href) => `<D:href>${escapeText(href)}</D:href>`).join("");
}

/** The error for anything that was thrown. An unexpected one becomes a 500 without its details. */
export function toDavError(error: unknown): DavError {
  if (error instanceof DavError) return error;
  if (error instanceof NoSuchDrive) return davErrors.noParent();
  if (error instanceof TooManyLocks) {
    return new DavError(
      507,
      "The drive, or the key in it, has too many locks: try again once some of them have ended",
    );
  }
  const { status, message, headers, cause } = toHttpError(error);
  const condition = status === 507 ? "<D:quota-not-exceeded/>" : "";
  const sentence = error instanceof RightMissing ? `The key ${error.problem}` : message;
  return new DavError(status, sentence, condition, headers, cause);
}

const encoder = new TextEncoder();

/** The response to a request that failed. */
export function errorResponse({ status, message, condition, headers }: DavError): HttpResponse {
  const text = '<?xml version="1.0" encoding="utf-8"?>\n' +
    `<D:error xmlns:D="DAV:">${condition}` +
    `<message xmlns="urn:kvdrive:webdav">${escapeText(message)}</message></D:error>`;
  const body = encoder.encode(text);
  return new HttpResponse(body, {
    status,
    headers: {
      ...headers,
      ...(status === 401 ? { "WWW-Authenticate": CHALLENGE } : {}),
      "Content-Type": "application/xml; charset=utf-8",
      "Content-Length": String(body.byteLength),
    },
  });
}

/** A status line, as `multistatus` has it. */
export function statusLine(status: number): string {
  return `HTTP/1.1 ${status} ${reasonPhrase(status)}`;
}

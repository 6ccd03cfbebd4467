import { errorParts, htmlPage, type PageParts, pageStyle } from "../http/responses/html.ts";
import { HttpResponse } from "../http/responses/http_response.ts";
import { errorBody } from "../http/error_response.ts";
import { HttpError, KEY_SCHEME } from "../http/http_error.ts";
import { requestIdOf } from "../http/request_context.ts";
import { type Header, joinedHeader } from "../http1/headers.ts";
import type { RequestHead } from "../http1/message_head.ts";
import type { ErrorCode } from "../rules/error_codes.ts";

const STYLE = pageStyle();

const PAGE_HEADERS = {
  "Content-Type": "text/html; charset=utf-8",
  "Content-Security-Policy":
    `default-src 'none'; style-src ${STYLE.source}; form-action 'self'; frame-ancestors 'none'; base-uri 'none'`,
  // A page that opened this one in another window must not be able to script it.
  "Cross-Origin-Opener-Policy": "same-origin",
  // With "no-referrer" a browser would send the form with "Origin: null".
  "Referrer-Policy": "same-origin",
  "X-Frame-Options": "DENY",
};

const encoder = new TextEncoder();

/**
 * Returns the response to an error: a page for a browser that navigates, JSON otherwise.
 *
 * @param head The head of the request, if it could be parsed.
 */
export function errorResponse(
  error: HttpError,
  head?: Pick<RequestHead, "method" | "headers">,
): HttpResponse {
  const { status } = error;
  const { Connection: _, ...others } = error.headers;
  if (head !== undefined && isNavigation(head)) {
    return pageResponse(status, errorParts(error), others);
  }
  const body = JSON.stringify(errorBody(error));
  return ownResponse(status, { "Content-Type": "application/json", ...others }, body);
}

/** Returns a redirect. `location` must be a path on this host, in ASCII. */
export function redirectResponse(
  status: 303 | 308,
  location: string,
  headers: Record<string, string> = {},
): HttpResponse {
  return ownResponse(status, { Location: location, ...headers });
}

/** Returns a page of the gate. Pages run no scripts. */
export function pageResponse(
  status: number,
  parts: Pick<PageParts, "title" | "content">,
  headers: Record<string, string> = {},
): HttpResponse {
  return ownResponse(status, { ...PAGE_HEADERS, ...headers }, htmlPage({ ...parts, style: STYLE }));
}

/** Returns a response of the gate itself, which depends on the caller and is never stored. */
function ownResponse(status: number, headers: Record<string, string>, text?: string): HttpResponse {
  const bytes = text === undefined ? null : encoder.encode(text);
  return new HttpResponse(bytes, {
    status,
    headers: {
      ...headers,
      "Content-Length": String(bytes?.length ?? 0),
      "Cache-Control": "no-store",
      "X-Content-Type-Options": "nosniff",
    },
  });
}

/** Whether a browser navigates, so that a person reads the response: "`GET`, `Accept: text/html`". */
export function isNavigation(
  { method, headers }: Pick<RequestHead, "method" | "headers">,
): boolean {
  if (method !== "GET") return false;
  return joinedHeader(headers, "accept")?.toLowerCase().includes("text/html") ?? false;
}

/** Returns the request's id: the client's `X-Request-Id` if it is acceptable, otherwise a new one. */
export function gateRequestId(headers: readonly Header[]): string {
  const id = joinedHeader(headers, "x-request-id");
  if (id === undefined) return crypto.randomUUID();
  const names = ["x-request-id", "x-api-key", "authorization"];
  const sent = names.map((name) => [name, joinedHeader(headers, name) ?? ""] as [string, string]);
  return requestIdOf(new Headers(sent));
}

/** The codes for malformed messages, by their status. */
const MALFORMED = {
  400: "malformed_request",
  405: "method_not_allowed",
  414: "target_too_long",
  417: "expectation_failed",
  431: "head_too_large",
  501: "not_implemented",
  505: "http_version_not_supported",
} as const satisfies Record<number, ErrorCode>;

type MalformedStatus = keyof typeof MALFORMED;

/** The error responses that only the gate has. Each sentence says what was wrong and what would be right. */
export const gateErrors = {
  badForwardedHost: () =>
    new HttpError(
      "invalid_host",
      "The X-Forwarded-Host header is not a host name with an optional port: the proxy has to set it",
    ),
  dotSegments: () =>
    new HttpError(
      "invalid_path",
      'The path has a backslash, or a segment "." or "..": write it without them',
    ),
  badSignIn: () =>
    new HttpError(
      "invalid_form",
      'The form must have the project key in "key": use the sign-in page',
    ),
  crossOriginSession: () =>
    new HttpError(
      "cross_origin_session",
      "A browser session is accepted only from the application's own pages: send a key in X-API-Key",
      { "WWW-Authenticate": KEY_SCHEME },
    ),
  crossOriginForm: () =>
    new HttpError(
      "cross_origin_request",
      "The form was not sent by the sign-in page: open that page and use its form",
    ),
  hostNotFound: () =>
    new HttpError(
      "app_not_found",
      "There is no application here: an application has its own host name, or the path /{project_id}/{app}/ under an IP address, localhost or a name in --apps-host",
    ),
  gatePageNotFound: () =>
    new HttpError(
      "route_not_found",
      "There is no such page: the gate has /.kvdrive/sign-in and /.kvdrive/sign-out",
    ),
  badMessage: (status: MalformedStatus, problem: string) =>
    new HttpError(
      MALFORMED[status],
      `The request cannot be passed on: ${problem}`,
      status === 405 ? { Allow: "GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS" } : {},
    ),
  upstreamMissing: () =>
    new HttpError(
      "upstream_missing",
      "The application has no upstream yet: the administrator must set one",
    ),
  upstreamUnreachable: () =>
    new HttpError("upstream_unreachable", "The application cannot be reached: try again later"),
  upstreamForbidden: () =>
    new HttpError(
      "upstream_forbidden",
      "The application is at an address that this server does not connect to: the administrator must change or allow it",
    ),
  upstreamInvalidResponse: () =>
    new HttpError(
      "upstream_invalid_response",
      "The application sent a response that is not valid HTTP/1.1: fix the application",
    ),
  upstreamTimeout: () =>
    new HttpError("upstream_timeout", "The application did not answer in time: try again later"),
} as const;

import { errorParts, htmlPage, type PageParts, pageStyle } from "../http/responses/html.ts";
import { HttpResponse } from "../http/responses/http_response.ts";
import { errorBody } from "../http/error_response.ts";
import type { HttpError } from "../http/http_error.ts";
import { requestIdOf } from "../http/request_context.ts";
import { type Header, joinedHeader } from "../http1/headers.ts";
import type { RequestHead } from "../http1/message_head.ts";

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

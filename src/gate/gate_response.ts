import { createHash } from "node:crypto";
import type { HttpError } from "../http/http_error.ts";
import { requestIdOf } from "../http/request_context.ts";
import { type Header, joinedHeader } from "../http1/headers.ts";
import type { RequestHead } from "../http1/message_head.ts";
import { reasonPhrase } from "../http1/response_writer.ts";

/** A response of the gate itself, not of an application. */
export interface GateResponse {
  status: number;
  headers: Record<string, string>;
  body: string;
}

/** The style sheet of the gate's pages. */
const STYLE = `
:root { color-scheme: light dark; --line: #767676; --accent: #0b57d0; --on-accent: #fff; --wrong: #b3261e; }
@media (prefers-color-scheme: dark) {
  :root { --line: #8e8e8e; --accent: #a8c7fa; --on-accent: #062e6f; --wrong: #f2b8b5; }
}
* { box-sizing: border-box; }
body { margin: 0; padding: 1.5rem 1rem; font: 1rem/1.5 system-ui, sans-serif; }
main { max-width: 22rem; margin: 8vh auto 0; }
h1 { margin: 0 0 1rem; font-size: 1.375rem; line-height: 1.25; overflow-wrap: anywhere; }
p { margin: 0 0 1rem; }
.wrong { color: var(--wrong); }
label { display: block; margin: 0 0 .25rem; font-weight: 600; }
input, button { width: 100%; min-height: 2.75rem; border-radius: .375rem; font: inherit; }
input { padding: 0 .75rem; border: 1px solid var(--line); }
button { margin-top: 1rem; border: 0; background: var(--accent); color: var(--on-accent); font-weight: 600; cursor: pointer; }
:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; }
`;

const STYLE_HASH = createHash("sha256").update(STYLE).digest("base64");

const PAGE_HEADERS = {
  "Content-Type": "text/html; charset=utf-8",
  "Content-Security-Policy":
    `default-src 'none'; style-src 'sha256-${STYLE_HASH}'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'`,
  // A page that opened this one in another window must not be able to script it.
  "Cross-Origin-Opener-Policy": "same-origin",
  // With "no-referrer" a browser would send the form with "Origin: null".
  "Referrer-Policy": "same-origin",
  "X-Frame-Options": "DENY",
};

const ENTITIES: Record<string, string> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

const encoder = new TextEncoder();

/**
 * Returns the response to an error: a page for a browser that navigates, JSON otherwise. "An error body is
 * `{"errors": ["one clear sentence", …]}`, never empty."
 *
 * @param head The head of the request, if it could be parsed.
 */
export function errorResponse(
  { status, message, headers }: HttpError,
  head?: Pick<RequestHead, "method" | "headers">,
): GateResponse {
  const { Connection: _, ...others } = headers;
  if (head !== undefined && isNavigation(head)) return errorPage(status, message, others);
  const body = JSON.stringify({ errors: [message] });
  return { status, headers: { "Content-Type": "application/json", ...others }, body };
}

/** Returns a redirect. `location` must be a path on this host, in ASCII. */
export function redirectResponse(
  status: 303 | 308,
  location: string,
  headers: Record<string, string> = {},
): GateResponse {
  return { status, headers: { Location: location, ...headers }, body: "" };
}

/**
 * Returns a page of the gate. Pages run no scripts.
 *
 * @param title Plain text.
 * @param content HTML that follows the title as a heading.
 */
export function pageResponse(
  status: number,
  { title, content }: { title: string; content: string },
  headers: Record<string, string> = {},
): GateResponse {
  const body = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>${escapeHtml(title)}</title>
<style>${STYLE}</style>
<main>
<h1>${escapeHtml(title)}</h1>
${content}</main>
</html>
`;
  return { status, headers: { ...PAGE_HEADERS, ...headers }, body };
}

/** Returns a page that explains an error. `message` says what happened and, after a colon, what to do. */
function errorPage(
  status: number,
  message: string,
  headers: Record<string, string>,
): GateResponse {
  const [, title = message, advice] = /^(.*?): (.*)$/.exec(message) ?? [];
  const more = advice === undefined
    ? ""
    : `<p>${escapeHtml(advice.charAt(0).toUpperCase() + advice.slice(1))}.</p>\n`;
  return pageResponse(status, { title, content: `${more}<p>Error ${status}</p>\n` }, headers);
}

/** Whether a browser navigates, so that a person reads the response: "`GET`, `Accept: text/html`". */
export function isNavigation(
  { method, headers }: Pick<RequestHead, "method" | "headers">,
): boolean {
  if (method !== "GET") return false;
  return joinedHeader(headers, "accept")?.toLowerCase().includes("text/html") ?? false;
}

/** Escapes a text for HTML content and attribute values. */
export function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => ENTITIES[character] ?? "");
}

/** Returns the bytes of a response to the request. */
export function serializeResponse(
  { status, headers, body }: GateResponse,
  request: { method: string; id: string; closes: boolean },
): Uint8Array {
  const bytes = encoder.encode(body);
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  const head = [
    `HTTP/1.1 ${status} ${reasonPhrase(status)}`,
    ...lines,
    `Content-Length: ${bytes.length}`,
    "Cache-Control: no-store",
    "X-Content-Type-Options: nosniff",
    `X-Request-Id: ${request.id}`,
    ...request.closes ? ["Connection: close"] : [],
    "",
    "",
  ].join("\r\n");
  // Headers are ASCII: parts of them that the client sent were percent-encoded.
  return encoder.encode(request.method === "HEAD" ? head : head + body);
}

/** Returns the request's id: the client's `X-Request-Id` if it is acceptable, otherwise a new one. */
export function gateRequestId(headers: readonly Header[]): string {
  const id = joinedHeader(headers, "x-request-id");
  if (id === undefined) return crypto.randomUUID();
  const names = ["x-request-id", "x-api-key", "authorization"];
  const sent = names.map((name) => [name, joinedHeader(headers, name) ?? ""] as [string, string]);
  return requestIdOf(new Headers(sent));
}

import { createHash } from "node:crypto";
import type { HttpError } from "../http/http_error.ts";
import { requestIdOf } from "../http/request_context.ts";
import { type Header, joinedHeader } from "../http1/headers.ts";
import type { RequestHead } from "../http1/message_head.ts";
import { REASONS } from "../http1/response_writer.ts";

/** How the gate's own pages look. */
export const STYLE = `
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

/** The headers of the gate's own pages, which run no scripts. */
export const PAGE_HEADERS = {
  "Content-Type": "text/html; charset=utf-8",
  "Content-Security-Policy":
    `default-src 'none'; style-src 'sha256-${STYLE_HASH}'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'`,
  // A page that opened this one in a window of its own must not reach into it.
  "Cross-Origin-Opener-Policy": "same-origin",
  // With "no-referrer" a browser would send the form with "Origin: null", which says nothing.
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

/** A text as HTML shows it. */
export function escape(text: string): string {
  return text.replace(/[&<>"']/g, (character) => ENTITIES[character] ?? "");
}

/** Whether a browser navigates, so that a person reads the answer: "`GET`, `Accept: text/html`". */
export function isNavigation(
  { method, accept }: { method: string; accept: string | undefined },
): boolean {
  return method === "GET" && (accept?.toLowerCase().includes("text/html") ?? false);
}

/**
 * A page that says what went wrong.
 *
 * @param message What happened, and after a colon what to do.
 */
function errorPage(
  status: number,
  message: string,
): { headers: Record<string, string>; body: string } {
  const [, what = message, advice] = /^(.*?): (.*)$/.exec(message) ?? [];
  const more = advice === undefined
    ? ""
    : `<p>${escape(advice.charAt(0).toUpperCase() + advice.slice(1))}.</p>\n`;
  const body = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>${escape(what)}</title>
<style>${STYLE}</style>
<main>
<h1>${escape(what)}</h1>
${more}<p>Error ${status}</p>
</main>
</html>
`;
  return { headers: PAGE_HEADERS, body };
}

/** An answer of the gate itself. */
export interface GateResponse {
  status: number;
  headers: Record<string, string>;
  body: string;
}

/**
 * "An error body is `{"errors": ["one clear sentence", …]}`, never empty." A browser that navigates gets it as a page.
 *
 * @param head Of the request, where it could be read.
 */
export function errorResponse(
  { status, message, headers }: HttpError,
  head?: Pick<RequestHead, "method" | "fields">,
): GateResponse {
  const { Connection: _, ...others } = headers;
  const accept = head && joinedHeader(head.fields, "accept");
  if (head !== undefined && isNavigation({ method: head.method, accept })) {
    const page = errorPage(status, message);
    return { status, headers: { ...page.headers, ...others }, body: page.body };
  }
  const body = JSON.stringify({ errors: [message] });
  return { status, headers: { "Content-Type": "application/json", ...others }, body };
}

/** An answer that sends the caller on. The address must be a path of ours, in ASCII. */
export function redirectResponse(
  status: 303 | 308,
  location: string,
  headers: Record<string, string> = {},
): GateResponse {
  return { status, headers: { Location: location, ...headers }, body: "" };
}

const encoder = new TextEncoder();

/** The answer as it is sent. */
export function serializeResponse(
  { status, headers, body }: GateResponse,
  request: { method: string; id: string; closes: boolean },
): Uint8Array {
  const bytes = encoder.encode(body);
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  const text = [
    `HTTP/1.1 ${status} ${REASONS[status] ?? ""}`,
    ...lines,
    `Content-Length: ${bytes.length}`,
    "Cache-Control: no-store",
    "X-Content-Type-Options: nosniff",
    `X-Request-Id: ${request.id}`,
    ...request.closes ? ["Connection: close"] : [],
    "",
    "",
  ].join("\r\n");
  // The head is ASCII: what of it comes from outside was percent-encoded.
  return request.method === "HEAD" ? encoder.encode(text) : encoder.encode(text + body);
}

/** The id of a request: the caller's where it sent a sane one. */
export function gateRequestId(fields: readonly Header[]): string {
  const id = joinedHeader(fields, "x-request-id");
  if (id === undefined) return crypto.randomUUID();
  const names = ["x-request-id", "x-api-key", "authorization"];
  const sent = names.map((name) => [name, joinedHeader(fields, name) ?? ""] as [string, string]);
  return requestIdOf(new Headers(sent));
}

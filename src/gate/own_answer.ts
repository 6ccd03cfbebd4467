import type { HttpError } from "../http/http_error.ts";
import { requestIdOf } from "../http/request_id.ts";
import { type Field, joinedField } from "../http1/fields.ts";
import type { RequestHead } from "../http1/request_head.ts";
import { REASONS } from "../http1/response_writer.ts";
import { errorPage, isNavigation } from "./error_page.ts";

/** An answer of the gate itself. */
export interface OwnAnswer {
  status: number;
  headers: Record<string, string>;
  body: string;
}

/**
 * "An error body is `{"errors": ["one clear sentence", …]}`, never empty." A browser that navigates gets it as a page.
 *
 * @param head Of the request, where it could be read.
 */
export function errorAnswer(
  { status, message, headers }: HttpError,
  head?: Pick<RequestHead, "method" | "fields">,
): OwnAnswer {
  const { Connection: _, ...others } = headers;
  const accept = head && joinedField(head.fields, "accept");
  if (head !== undefined && isNavigation({ method: head.method, accept })) {
    const page = errorPage(status, message);
    return { status, headers: { ...page.headers, ...others }, body: page.body };
  }
  const body = JSON.stringify({ errors: [message] });
  return { status, headers: { "Content-Type": "application/json", ...others }, body };
}

/** An answer that sends the caller on. The address must be a path of ours, in ASCII. */
export function redirectAnswer(
  status: 303 | 308,
  location: string,
  headers: Record<string, string> = {},
): OwnAnswer {
  return { status, headers: { Location: location, ...headers }, body: "" };
}

const encoder = new TextEncoder();

/** The answer as it is sent. */
export function ownAnswerBytes(
  { status, headers, body }: OwnAnswer,
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
export function gateRequestId(fields: readonly Field[]): string {
  const id = joinedField(fields, "x-request-id");
  if (id === undefined) return crypto.randomUUID();
  const names = ["x-request-id", "x-api-key", "authorization"];
  const sent = names.map((name) => [name, joinedField(fields, name) ?? ""] as [string, string]);
  return requestIdOf(new Headers(sent));
}

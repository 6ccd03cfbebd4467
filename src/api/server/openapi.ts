import { createHash } from "node:crypto";
import { openApiDocument } from "../../openapi/document.ts";
import type { RoutedRequest } from "../router.ts";

/** Encoded once: it never changes while the program runs. */
const bytes = new TextEncoder().encode(JSON.stringify(openApiDocument));
const etag = `"${createHash("sha256").update(bytes).digest("hex").slice(0, 32)}"`;

const HEADERS = {
  // It says nothing of what is stored: documentation tools on pages of any origin may read it.
  "Access-Control-Allow-Origin": "*",
  "Cache-Control": "no-cache",
  "ETag": etag,
  "X-Content-Type-Options": "nosniff",
};

/** `GET /openapi.json`: "the OpenAPI 3.1 description of all of this". */
export function showDescription({ request }: RoutedRequest): Promise<Response> {
  return Promise.resolve(respond(request.headers));
}

function respond(asked: Headers): Response {
  if (isKnown(asked.get("if-none-match") ?? "")) {
    return new Response(null, { status: 304, headers: HEADERS });
  }
  return new Response(bytes, {
    headers: {
      ...HEADERS,
      "Content-Type": "application/json",
      "Content-Length": String(bytes.byteLength),
    },
  });
}

/** "Weak comparison" (RFC 9110, 13.1.2). */
function isKnown(known: string): boolean {
  return known.split(",").some((tag) => tag.trim().replace(/^W\//, "") === etag);
}

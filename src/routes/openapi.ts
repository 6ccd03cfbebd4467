import { createHash } from "node:crypto";
import type { Incoming } from "../http/router.ts";
import { openApiDocument } from "../openapi/document.ts";

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
export function showDescription({ request }: Incoming): Promise<Response> {
  return Promise.resolve(answer(request.headers));
}

function answer(asked: Headers): Response {
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

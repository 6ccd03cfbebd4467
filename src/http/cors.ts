/** How long a browser may keep the answer to a preflight, in seconds. */
const PREFLIGHT_MAX_AGE = 86_400;

/** Which origins' pages may read the answers: all, or those of a list. */
export type CorsOrigins = "*" | readonly string[];

const EXPOSED = "ETag, Content-Range, Content-Length, Accept-Ranges, Last-Modified, X-Request-Id";

/** What the API understands. A page may send more, which is ignored. */
const ALLOWED = "X-Api-Key, Content-Type, Content-Digest, Range, If-Match, If-None-Match, " +
  "If-Modified-Since, If-Unmodified-Since, If-Range, X-Request-Id";

/** Adds what lets a page of the asking origin read an answer. Never with credentials: the key travels in a header. */
export function addCorsHeaders(response: Headers, request: Headers, allowed: CorsOrigins): void {
  const origin = request.get("origin");
  if (allowed === "*") {
    response.set("Access-Control-Allow-Origin", "*");
  } else {
    response.append("Vary", "Origin");
    if (origin === null || !allowed.includes(origin)) return;
    response.set("Access-Control-Allow-Origin", origin);
  }
  response.set("Access-Control-Expose-Headers", EXPOSED);
}

/** The answer to `OPTIONS`, which needs no key. */
export function answerOptions(request: Headers, allow: string): Response {
  const headers = new Headers({ Allow: allow });
  if (request.has("access-control-request-method")) {
    headers.set("Access-Control-Allow-Methods", allow);
    const asked = request.get("access-control-request-headers");
    headers.set("Access-Control-Allow-Headers", asked === null ? ALLOWED : `${ALLOWED}, ${asked}`);
    headers.set("Access-Control-Max-Age", String(PREFLIGHT_MAX_AGE));
    headers.append("Vary", "Access-Control-Request-Headers");
  }
  return new Response(null, { status: 204, headers });
}

import { HttpResponse, ResponseHeaders } from "./responses/http_response.ts";

/** How long a browser may cache the response to a preflight, in seconds. */
const PREFLIGHT_MAX_AGE = 86_400;

/** The origins whose pages may read the responses: all, or those of a list. */
export type CorsOrigins = "*" | readonly string[];

const EXPOSED = "ETag, Content-Range, Content-Length, Accept-Ranges, Last-Modified, X-Request-Id";

/** When the caller's own copy of a file was last modified. Only downloads of files that have such a time carry it. */
export const MTIME = "X-Kvdrive-Mtime";

/** The headers that the API uses. A page may send others, which are ignored. */
const ALLOWED = "X-Api-Key, Content-Type, Content-Digest, Range, If-Match, If-None-Match, " +
  "If-Modified-Since, If-Unmodified-Since, If-Range, Last-Event-ID, X-Request-Id";

/** Lets pages of the request's origin read the response. Credentials are never allowed: the key is sent in a header. */
export function addCorsHeaders(response: Headers, request: Headers, allowed: CorsOrigins): void {
  const origin = request.get("origin");
  if (allowed === "*") {
    response.set("Access-Control-Allow-Origin", "*");
  } else {
    response.append("Vary", "Origin");
    if (origin === null || !allowed.includes(origin)) return;
    response.set("Access-Control-Allow-Origin", origin);
  }
  const exposed = response.has(MTIME) ? `${EXPOSED}, ${MTIME}` : EXPOSED;
  response.set("Access-Control-Expose-Headers", exposed);
}

/** The response to `OPTIONS`, which needs no key. */
export function optionsResponse(request: Headers, allow: string): Response {
  const headers = new ResponseHeaders({ Allow: allow });
  if (request.has("access-control-request-method")) {
    headers.set("Access-Control-Allow-Methods", allow);
    const requested = request.get("access-control-request-headers");
    headers.set(
      "Access-Control-Allow-Headers",
      requested === null ? ALLOWED : `${ALLOWED}, ${requested}`,
    );
    headers.set("Access-Control-Max-Age", String(PREFLIGHT_MAX_AGE));
    headers.append("Vary", "Access-Control-Request-Headers");
  }
  return new HttpResponse(null, { status: 204, headers });
}

/** The value of the header: a year, in seconds. Subdomains may be other servers, so they decide for themselves. */
export const HSTS = "max-age=31536000";

export const HSTS_HEADER = "Strict-Transport-Security";

/** Makes browsers use https only from the first response on (RFC 6797). */
export function withHsts<Info>(
  app: (request: Request, info: Info) => Promise<Response>,
): (request: Request, info: Info) => Promise<Response> {
  return async (request, info) => {
    const response = await app(request, info);
    response.headers.set(HSTS_HEADER, HSTS);
    return response;
  };
}

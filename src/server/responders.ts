import { createApp } from "../app.ts";
import type { Deps } from "../api/endpoint.ts";
import { isDavRequest } from "../dav/dav_request.ts";
import type { HttpError } from "../http/http_error.ts";
import { requestedHost } from "../http/network/client_address.ts";
import type { Handler } from "../http1/server.ts";
import { isWithin } from "../rules/hosts.ts";

/** Responds on the port of S3. */
export interface S3Responder {
  handler: Handler;
  /** Returns the response to bytes that are no valid HTTP request. */
  refusal: (error: HttpError, requestId: string) => Response;
}

/** The handlers of requests. */
export interface Responders {
  /** On the server's port. */
  app: Handler;
  /** Absent if S3 is off. */
  s3?: S3Responder;
}

/**
 * Returns the handlers of requests. A request for the domain of S3, or for a name below it, never reaches the other
 * routes. The modules of S3 are loaded only if it is on: loading them takes a tenth of the start time.
 */
export async function respondersOf(
  { s3Domain, s3Port, ...settings }: WebdavSettings & {
    s3Domain: string | undefined;
    s3Port: number | "off";
  },
  deps: Deps,
): Promise<Responders> {
  const routes = withWebdav(createApp(deps), settings, deps);
  if (s3Domain === undefined && s3Port === "off") return { app: routes };
  const { createS3App, refuse } = await import("../s3/s3_app.ts");
  const handler = createS3App({ ...deps, domain: s3Domain });
  const app: Handler = (request, info) =>
    isWithin(requestedHost(request.headers), s3Domain)
      ? handler(request, info)
      : routes(request, info);
  return { app: s3Domain === undefined ? routes : app, s3: { handler, refusal: refuse } };
}

interface WebdavSettings {
  webdav: boolean;
  webdavPlain: boolean;
  webdavNoJunk: boolean;
}

/**
 * Adds WebDAV to the routes of the server's own host names, unless it is off. Its modules are loaded for its first
 * request, because most servers start without one soon after.
 */
function withWebdav(
  routes: Handler,
  { webdav, webdavPlain: allowsPlain, webdavNoJunk: refusesJunk }: WebdavSettings,
  deps: Deps,
): Handler {
  if (!webdav) return routes;
  const load = async () => {
    const { createDavApp } = await import("../dav/dav_app.ts");
    return createDavApp({ ...deps, webdav: { allowsPlain, refusesJunk } });
  };
  let dav: Promise<Handler> | undefined;
  const { basePath, share: { host: shareHost } } = deps;
  const isForLinks = ({ headers }: Request) =>
    shareHost !== undefined && requestedHost(headers) === shareHost;
  return (request, info) =>
    isDavRequest(request, basePath) && !isForLinks(request)
      ? (dav ??= load()).then((handler) => handler(request, info))
      : routes(request, info);
}

export interface S3Place {
  /** Its host name on the server's own port, if it has one. */
  domain: string | undefined;
  /** Its own port, for every host name, if it has one. */
  port: number | undefined;
  /** How its own port is reached. */
  scheme: "http" | "https";
}

/**
 * Returns the address of S3 for clients that reach the server at an origin; `undefined` if S3 is off.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * const place = { domain: undefined, port: 9000, scheme: "http" } as const;
 * assertEquals(s3Address(place, "http://kv.example:8000"), "http://kv.example:9000");
 * const named = { ...place, domain: "s3.example" };
 * assertEquals(s3Address(named, "https://kv.example"), "https://s3.example");
 * ```
 */
export function s3Address({ domain, port, scheme }: S3Place, origin: string): string | undefined {
  const url = URL.canParse(origin) ? new URL(origin) : undefined;
  if (url === undefined || domain === undefined && port === undefined) return undefined;
  if (domain !== undefined) {
    url.hostname = domain;
    return url.origin;
  }
  return new URL(`${scheme}://${url.hostname}:${port}`).origin;
}

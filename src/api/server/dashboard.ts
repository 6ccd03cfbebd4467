import { errors } from "../../http/http_error.ts";
import type { PageFile } from "../../http/static_files.ts";
import type { Deps, RoutedRequest } from "../router.ts";

/**
 * Nothing but the page's own files runs or is shown, and nobody frames it. What is stored is shown from `blob:` addresses
 * alone, as pictures, sound, film, or in a frame that runs nothing.
 */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' blob:",
  "media-src blob:",
  "frame-src blob:",
  "connect-src 'self'",
  "form-action 'none'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join("; ");

const HEADERS = {
  // A browser keeps it, and asks each time whether it is still the same.
  "Cache-Control": "no-cache",
  "Content-Security-Policy": POLICY,
  "Cross-Origin-Opener-Policy": "same-origin",
  "Referrer-Policy": "no-referrer",
  "Vary": "Accept-Encoding",
  "X-Content-Type-Options": "nosniff",
  "X-Frame-Options": "DENY",
};

/** `GET /`: the dashboard. */
export function showDashboard({ request }: RoutedRequest, { dashboard }: Deps): Promise<Response> {
  return Promise.resolve(respond(request, dashboard.find("index.html")));
}

/** `GET /dashboard/{folder}/{file}`: what the dashboard is made of. */
export function showDashboardFile(
  { request, params }: RoutedRequest,
  { dashboard }: Deps,
): Promise<Response> {
  return Promise.resolve(respond(request, dashboard.find(`${params["folder"]}/${params["file"]}`)));
}

/** @throws {HttpError} 404 without a file. */
function respond({ headers }: Request, file: PageFile | undefined): Response {
  if (file === undefined) throw errors.routeNotFound();
  const isZipped = acceptsGzip(headers.get("accept-encoding") ?? "");
  const etag = isZipped ? `"${file.etag}-gzip"` : `"${file.etag}"`;
  const common = { ...HEADERS, ETag: etag };
  if (isKnown(headers.get("if-none-match") ?? "", file)) {
    return new Response(null, { status: 304, headers: common });
  }
  const bytes = isZipped ? file.zipped : file.bytes;
  return new Response(bytes, {
    headers: {
      ...common,
      "Content-Type": file.type,
      "Content-Length": String(bytes.byteLength),
      ...(isZipped ? { "Content-Encoding": "gzip" } : {}),
    },
  });
}

/** Whether gzip is named, and not with a weight of 0 (RFC 9110, 12.5.3). */
function acceptsGzip(accepted: string): boolean {
  return accepted.split(",").some((one) => {
    const [name = "", ...weights] = one.split(";").map((part) => part.trim().toLowerCase());
    return name === "gzip" && !weights.some((weight) => /^q=0(\.0*)?$/.test(weight));
  });
}

/** Whether the caller has the file, in whichever of its two forms: "weak comparison" (RFC 9110, 13.1.2). */
function isKnown(known: string, { etag }: PageFile): boolean {
  const tags = known.split(",").map((tag) => tag.trim().replace(/^W\//, ""));
  return tags.includes(`"${etag}"`) || tags.includes(`"${etag}-gzip"`);
}

/**
 * The headers of everything below `/s/`. The files there are from others, and have the origin of the server: "what a link
 * serves must never act as part of this origin".
 *
 * - `sandbox` without `allow-same-origin` and `allow-scripts`: a document has an origin of its own and runs nothing.
 * - `default-src 'none'`: it loads nothing.
 * - `frame-ancestors 'none'`: no page shows it as a part of itself.
 * - `nosniff`: a browser does not find a script where the type names an image.
 * - `Cross-Origin-Resource-Policy`: pages of other sites do not embed it.
 *
 * @module
 */
import { contentDisposition } from "../../http/responses/http_response.ts";
import { errors } from "../../http/http_error.ts";
import type { PageStyle } from "../../http/responses/html.ts";

/**
 * What browsers load for a page, and never for a person: `Sec-Fetch-Dest` of scripts, styles, workers and frames. The
 * policy of the dashboard allows scripts of its own origin, so a file of a link must not become one.
 */
const EMBEDDED = new Set([
  ...["script", "style", "worker", "sharedworker", "serviceworker", "audioworklet", "paintworklet"],
  ...["frame", "iframe", "embed", "object", "fencedframe", "font", "manifest", "xslt", "json"],
]);

/** What a served file may do in a browser: nothing. Browsers show images with a style of their own. */
const FILE_POLICY = [
  "sandbox",
  "default-src 'none'",
  "style-src 'unsafe-inline'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "base-uri 'none'",
].join("; ");

const COMMON: Readonly<Record<string, string>> = {
  "Cross-Origin-Opener-Policy": "same-origin",
  "Cross-Origin-Resource-Policy": "same-origin",
  "Referrer-Policy": "no-referrer",
  "X-Content-Type-Options": "nosniff",
  "X-Frame-Options": "DENY",
  "X-Robots-Tag": "noindex",
};

/** Adds what every response below `/s/` has. A page has set its own policy. */
export function secureShared(headers: Headers): void {
  for (const name in COMMON) headers.set(name, COMMON[name] ?? "");
  if (headers.get("Content-Security-Policy")?.startsWith(PAGE_SANDBOX)) return;
  headers.set("Content-Security-Policy", FILE_POLICY);
}

/** Refuses what a page would run, or show as a part of itself. @throws {HttpError} 403 */
export function requirePerson(headers: Headers): void {
  const isEmbedded = EMBEDDED.has(headers.get("sec-fetch-dest") ?? "") ||
    headers.has("service-worker");
  if (isEmbedded) throw errors.linkEmbedded();
}

/**
 * The page is the server's own and runs no scripts. Without its origin, a browser would send no cookie for its images,
 * and `Cross-Origin-Resource-Policy` would keep them from it.
 */
const PAGE_SANDBOX = "sandbox allow-downloads allow-forms allow-same-origin";

export function pagePolicy({ source }: PageStyle): string {
  return [
    PAGE_SANDBOX,
    "default-src 'none'",
    `style-src ${source}`,
    "img-src 'self'",
    "media-src 'self'",
    "form-action 'self'",
    "frame-ancestors 'none'",
    "base-uri 'none'",
  ].join("; ");
}

/** How a browser shows a file. */
export type FileKind = "image" | "audio" | "video" | "pdf" | "text";

/** "type/subtype" (RFC 9110, 8.3.1) with parameters. Browsers disagree about lists and other text. */
const MEDIA_TYPE = /^([!#$&^_.+a-z0-9-]+)\/([!#$&^_.+a-z0-9-]+)[ \t]*(?:;[^,]*)?$/;

/**
 * Returns how a browser shows a file of this content type; `undefined` for a type that it might run, or does not show:
 * "everything but images (not SVG), audio, video, PDF and plain text".
 */
export function fileKind(type: string): FileKind | undefined {
  const [, kind = "", subtype = ""] = MEDIA_TYPE.exec(type.trim().toLowerCase()) ?? [];
  if (kind === "image") return /svg|xml/.test(subtype) ? undefined : kind;
  if (kind === "audio" || kind === "video") return /xml/.test(subtype) ? undefined : kind;
  if (`${kind}/${subtype}` === "application/pdf") return "pdf";
  return `${kind}/${subtype}` === "text/plain" ? "text" : undefined;
}

/** Returns the `Content-Disposition` of a file, which has "the file's last name segment". */
export function fileDisposition(
  { name, type }: { name: string; type: string },
  download: boolean,
): string {
  const isShown = !download && fileKind(type) !== undefined;
  return contentDisposition(isShown ? "inline" : "attachment", lastSegment(name));
}

/** Returns what follows the last slash of a name, or of a folder before its own slash. */
export function lastSegment(name: string): string {
  const end = name.endsWith("/") ? name.length - 1 : name.length;
  return name.slice(name.lastIndexOf("/", end - 1) + 1);
}

import { errors } from "../../http/http_error.ts";
import { sendStatic, type StaticFile } from "../../http/static_files.ts";
import { TAGS } from "../../openapi/info.ts";
import { plainResponse } from "../../openapi/responses.ts";
import {
  type Content,
  header,
  type HeaderObjects,
  parameter,
  type ResponseObject,
} from "../../openapi/types.ts";
import { publicEndpoint } from "../endpoint.ts";

/**
 * Only the page's own script is run, and no page may embed it. Stored files are shown as images, audio and video, or from
 * `blob:` addresses in a frame. No text ever becomes markup or a script: no policy of Trusted Types is allowed.
 */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
  "style-src 'self'",
  "img-src 'self' blob:",
  "media-src 'self' blob:",
  "frame-src blob:",
  "connect-src 'self'",
  "form-action 'none'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join("; ");

const HEADERS = {
  "Content-Security-Policy": POLICY,
  "Cross-Origin-Opener-Policy": "same-origin",
  "Referrer-Policy": "no-referrer",
  "Vary": "Accept-Encoding",
  "X-Content-Type-Options": "nosniff",
  "X-Frame-Options": "DENY",
};

const PAGE = "index.html";

/** The page, whose address stays the same, is revalidated before each use. */
const PAGE_HEADERS = { ...HEADERS, "Cache-Control": "no-cache" };
/** A name with a hash has the same content for ever: a browser asks for it once. */
const FILE_HEADERS = { ...HEADERS, "Cache-Control": "public, max-age=31536000, immutable" };

const headers: HeaderObjects = {
  "Content-Security-Policy": header("PagePolicy"),
  "Cross-Origin-Opener-Policy": header("OpenerPolicy"),
  "ETag": header("ETag"),
  "Referrer-Policy": header("ReferrerPolicy"),
  "Vary": header("Vary"),
  "X-Content-Type-Options": header("NoSniff"),
  "X-Frame-Options": header("FrameOptions"),
};
const text = { schema: { type: "string" } };
const parameters = [parameter("KnownPage"), parameter("AcceptEncoding")];

function responses(cacheControl: string, content: Content): Record<string, ResponseObject> {
  const all = { ...headers, "Cache-Control": header(cacheControl) };
  const encoding = { "Content-Encoding": header("ContentEncoding") };
  return {
    200: plainResponse("The file.", { ...all, ...encoding }, content),
    304: plainResponse("The caller's version is current.", all),
  };
}

/** `GET /`: the page of the dashboard. */
export const showDashboard = publicEndpoint({
  id: "showDashboard",
  tag: TAGS.server,
  summary: "The dashboard",
  description: "A web application. It uses only the API that is described here.",
  parameters,
  success: responses("Revalidate", { "text/html": text }),
}, async ({ request }, { dashboard }) => {
  return await send(request, dashboard.find(PAGE), PAGE_HEADERS);
});

/**
 * `GET /dashboard/assets/{file}`: the script, the styles and the icon that the page names, each with a hash of its content
 * in its name. The names of other versions are not found, so that no cache keeps a content under the name of another.
 */
export const showDashboardFile = publicEndpoint(
  {
    id: "showDashboardFile",
    tag: TAGS.server,
    summary: "A file of the dashboard",
    parameters,
    description: "The page at `/` names the current files.",
    success: responses("Immutable", {
      "text/javascript": text,
      "text/css": text,
      "image/svg+xml": text,
    }),
    failures: { NotFound: "The file does not exist, or has another content." },
  },
  async ({ request, params: { file = "" } }, { dashboard }) => {
    return await send(request, file === PAGE ? undefined : dashboard.find(file), FILE_HEADERS);
  },
);

/** @throws {HttpError} 404 without a file. */
async function send(
  request: Request,
  file: StaticFile | undefined,
  headers: Readonly<Record<string, string>>,
): Promise<Response> {
  if (file === undefined) throw errors.routeNotFound();
  return await sendStatic(request, file, headers);
}

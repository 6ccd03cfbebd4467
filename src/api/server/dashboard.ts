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
 * Only the page's own files are run or shown, and no page may embed it. Stored files are shown from `blob:` addresses
 * only: as images, audio, video, or in a frame without scripts.
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
  // Browsers may keep the file, but revalidate it before each use.
  "Cache-Control": "no-cache",
  "Content-Security-Policy": POLICY,
  "Cross-Origin-Opener-Policy": "same-origin",
  "Referrer-Policy": "no-referrer",
  "Vary": "Accept-Encoding",
  "X-Content-Type-Options": "nosniff",
  "X-Frame-Options": "DENY",
};

const headers: HeaderObjects = {
  "Cache-Control": header("Revalidate"),
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

function pageResponses(content: Content): Record<string, ResponseObject> {
  const encoding = { "Content-Encoding": header("ContentEncoding") };
  return {
    200: plainResponse("The file.", { ...headers, ...encoding }, content),
    304: plainResponse("The caller's version is current.", headers),
  };
}

/** `GET /`: the page of the dashboard. */
export const showDashboard = publicEndpoint({
  id: "showDashboard",
  tag: TAGS.server,
  summary: "The dashboard",
  description: "A web application. It uses only the API that is described here.",
  parameters,
  success: pageResponses({ "text/html": text }),
}, async ({ request }, { dashboard }) => await send(request, dashboard.find("index.html")));

/** `GET /dashboard/{folder}/{file}`: the scripts, styles and images of the dashboard. */
export const showDashboardFile = publicEndpoint(
  {
    id: "showDashboardFile",
    tag: TAGS.server,
    summary: "A file of the dashboard",
    parameters,
    success: pageResponses({ "text/javascript": text, "text/css": text, "image/svg+xml": text }),
    failures: { NotFound: "The file does not exist." },
  },
  async ({ request, params }, { dashboard }) =>
    await send(request, dashboard.find(`${params["folder"]}/${params["file"]}`)),
);

/** @throws {HttpError} 404 without a file. */
async function send(request: Request, file: StaticFile | undefined): Promise<Response> {
  if (file === undefined) throw errors.routeNotFound();
  return await sendStatic(request, file, HEADERS);
}

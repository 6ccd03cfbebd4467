import { errors } from "../../http/http_error.ts";
import { sendStatic, type StaticFile, staticFile } from "../../http/responses/static_files.ts";
import { header, plainResponse } from "../../openapi/messages.ts";
import type { ParameterName } from "../../openapi/parameters.ts";
import type { Content, HeaderObjects, ResponseObject } from "../../openapi/types.ts";
import { escapeHtml } from "../../http/responses/html.ts";
import { publicEndpoint } from "../endpoint.ts";
import { currentSession } from "../sessions/session_call.ts";

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

/** The page of a browser that is signed in, and that of any other. */
const PAGE = "index.html";
const SIGN_IN_PAGE = "sign_in.html";

/** Where the page gets the session, so that it needs not ask for it. */
const SESSION = "{session}";

/** The page of the sign-in, whose address stays the same, is revalidated before each use. */
const SIGN_IN_HEADERS = {
  ...HEADERS,
  "Cache-Control": "no-cache",
  "Vary": "Accept-Encoding, Cookie",
};
/** A page with a session is not kept. */
const PAGE_HEADERS = { ...SIGN_IN_HEADERS, "Cache-Control": "no-store" };
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
const parameters: readonly ParameterName[] = ["KnownPage", "AcceptEncoding"];

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
  tag: "The server",
  summary: "The dashboard",
  description: "A web application. It uses only the API that is described here.",
  parameters,
  success: responses("PageCaching", { "text/html": text }),
}, async (routed, deps) => {
  const { dashboard } = deps;
  const page = dashboard.find(PAGE);
  const session = page === undefined ? null : await currentSession(routed, deps);
  if (page === undefined || session === null) {
    return await send(routed.request, dashboard.find(SIGN_IN_PAGE), SIGN_IN_HEADERS);
  }
  const text = new TextDecoder().decode(page.bytes).replace(
    SESSION,
    () => escapeHtml(JSON.stringify(session)),
  );
  return await send(
    routed.request,
    staticFile(page.type, new TextEncoder().encode(text)),
    PAGE_HEADERS,
  );
});

/**
 * `GET /dashboard/assets/{file}`: the script, the styles and the icon that the page names, each with a hash of its content
 * in its name. The names of other versions are not found, so that no cache keeps a content under the name of another.
 */
export const showDashboardFile = publicEndpoint(
  {
    id: "showDashboardFile",
    tag: "The server",
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
    return await send(
      request,
      file.endsWith(".html") ? undefined : dashboard.find(file),
      FILE_HEADERS,
    );
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

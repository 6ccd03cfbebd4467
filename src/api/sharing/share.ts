import { MTIME } from "../../http/browser_headers.ts";
import { toHttpError } from "../../http/error_response.ts";
import { errors } from "../../http/http_error.ts";
import { HttpResponse } from "../../http/responses/http_response.ts";
import { json, pagingOf } from "../../http/responses/json_response.ts";
import { sendFile } from "../../http/responses/send_file.ts";
import type { RequestKind } from "../../http/request_context.ts";
import { Query } from "../../http/request_target.ts";
import { noCredentials } from "../../openapi/info.ts";
import { header, plainResponse } from "../../openapi/messages.ts";
import type { OperationDescription } from "../../openapi/operation.ts";
import type { HeaderObjects } from "../../openapi/types.ts";
import { fileNameProblem } from "../../rules/names.ts";
import type { Place } from "../../store/engine/records.ts";
import type { OpenFile } from "../../store/files/file_reader.ts";
import type { OpenLink } from "../../store/links/link_store.ts";
import type { Deps, Endpoint, Handler, RoutedRequest } from "../endpoint.ts";
import {
  fileResponses,
  notOfHead,
  readFailures,
  readParameters,
  sendOptionsOf,
} from "../files/download_file.ts";
import { thumbnailResponse } from "../files/thumbnails.ts";
import { archiveResponse } from "./archive_response.ts";
import { requirePassword, unlock, wantsPage } from "./link_password.ts";
import {
  beginningOf,
  errorPage,
  folderPage,
  passwordPage,
  previewPage,
  viewQuery,
} from "./share_pages.ts";
import {
  fileDisposition,
  type FileKind,
  fileKind,
  lastSegment,
  requirePerson,
} from "./shared_headers.ts";

/** Files and folders on one page: more would make it larger than 30 KB. */
const PAGE_ENTRIES = 100;

const cacheControl = { "Cache-Control": header("SharedCacheControl") };
/** The headers of a file that a link serves. */
export const fileHeaders: HeaderObjects = {
  ...cacheControl,
  "Accept-Ranges": header("SharedRanges"),
  "Content-Disposition": header("Disposition"),
  "ETag": header("SharedETag"),
  "Last-Modified": header("SharedModified"),
  "Repr-Digest": header("ReprDigest"),
  [MTIME]: header("Mtime"),
};

const NOT_FOUND =
  "There is no such link, it has expired, was revoked or is used up, or its file is gone: the response does not tell which.";
const PASSWORD = "The link has a password, and the request has none or a wrong one.";
const EMBEDDED_FAILURE = "A browser asks for it as a script, a style sheet or a frame of a page.";

/** `GET /s/{token}`: what a link leads to. */
export const openLink = sharedEndpoint(
  {
    id: "openLink",
    tag: "Sharing",
    summary: "Open a link",
    description:
      "A link on a file returns the file, like a download; to a browser that navigates to an image, audio, video or a " +
      "text, a page that shows it. A link on a prefix returns a page with the files and folders below it, or, if `application/json` is " +
      'accepted, `{"names": […], "paging": {…}}` as lists of files do, with the rest of each name. A password is sent ' +
      "as HTTP Basic with any user name. If the link has a limit of downloads, `Range` is ignored.",
    parameters: [
      "LinkFile",
      "LinkFolder",
      "LinkLast",
      "LinkView",
      "LinkPreview",
      "LinkInline",
      "LinkThumbnail",
      "LinkDownload",
      "LinkZip",
      ...readParameters,
    ],
    success: {
      ...fileResponses("The whole file, a zip archive, or a page.", fileHeaders),
      303: plainResponse("Browsers show the file on a page.", {
        ...cacheControl,
        "Location": header("Location"),
      }),
    },
    failures: {
      BadRequest: "The query is malformed.",
      Unauthorized: PASSWORD,
      Forbidden: EMBEDDED_FAILURE,
      NotFound: NOT_FOUND,
      ...readFailures,
      TooManyWrongKeys: "Too many wrong passwords of this link came from this network.",
    },
    notOfHead,
  },
  open,
  "download",
);

/** `POST /s/{token}`: "a password is asked for on a small page (POST, same URL …)". */
export const unlockLink = sharedEndpoint(
  {
    id: "unlockLink",
    tag: "Sharing",
    summary: "Send the password of a link",
    description: "The form of the page that asks for it. Programs send it as HTTP Basic.",
    body: {
      description: "The password.",
      required: true,
      content: {
        "application/x-www-form-urlencoded": {
          schema: {
            type: "object",
            properties: { password: { type: "string" } },
            required: ["password"],
          },
        },
      },
    },
    success: {
      303: plainResponse("The same address, which the cookie opens.", {
        ...cacheControl,
        "Location": header("Location"),
        "Set-Cookie": header("UnlockCookie"),
      }),
    },
    failures: {
      BadRequest: "The body is not such a form.",
      BodyTimeout: "The body stopped coming.",
      Forbidden: EMBEDDED_FAILURE,
      NotFound: NOT_FOUND,
      TooLarge: "The body is larger than any valid form.",
      TooManyWrongKeys: "Too many wrong passwords of this link came from this network.",
      Unauthorized: PASSWORD,
    },
  },
  unlockAndReturn,
  "other",
);

/** A request for a link that is open. */
interface LinkCall extends RoutedRequest {
  link: OpenLink;
}

/** An endpoint for a link, which is found first. Errors are pages for browsers. */
function sharedEndpoint(
  operation: OperationDescription,
  handler: (call: LinkCall, deps: Deps) => Promise<Response>,
  kind: RequestKind,
): Endpoint {
  const access = { security: noCredentials, isShared: true };
  const handle: Handler = async (routed, deps) => {
    try {
      requirePerson(routed.request.headers);
      return await handler({ ...routed, link: await findLink(routed, deps) }, deps);
    } catch (error) {
      return failureOf(error, routed);
    }
  };
  return { operation, access, handle, kind };
}

/** @throws {HttpError} 404 */
async function findLink(
  { params, context }: RoutedRequest,
  { store }: Deps,
): Promise<OpenLink> {
  const link = await store.links.find(params["token"] ?? "");
  if (link === undefined) throw errors.linkNotFound();
  context.project = link.record.project;
  return link;
}

/** @throws The error itself if the response is not a page. */
function failureOf(error: unknown, { request, context }: RoutedRequest): Response {
  const rendered = toHttpError(error);
  const { status, headers } = rendered;
  const isPasswordNeeded = status === 401 && context.link === undefined;
  context.link ??= status === 404 ? "not found" : isPasswordNeeded ? "password missing" : "refused";
  // The server logs the cause of an error of its own.
  if (!wantsPage(request.headers) || status >= 500) throw error;
  if (status !== 401) return errorPage(rendered);
  return passwordPage(401, isPasswordNeeded ? undefined : "This is not the password.", headers);
}

/** `POST`: leads the browser back to the address, now with a cookie. */
async function unlockAndReturn(call: LinkCall, deps: Deps): Promise<Response> {
  const { link, params, query } = call;
  await requireTarget(link, deps);
  const location = `${deps.basePath}/s/${params["token"]}${query === "" ? "" : `?${query}`}`;
  const cookie = link.record.password === undefined ? undefined : await unlock(call, link, deps);
  call.context.link = "page";
  return redirect(location, cookie === undefined ? {} : { "Set-Cookie": cookie });
}

/**
 * Links "whose file is gone all answer the same 404", also to a request without the password.
 *
 * @throws {HttpError} 404
 */
async function requireTarget(link: OpenLink, deps: Deps): Promise<void> {
  const { project, drive, name } = link.record;
  if (name === undefined || await deps.store.files.reader.stat({ project, drive, name })) return;
  await refuse(link, deps);
}

function redirect(location: string, headers: Record<string, string> = {}): Response {
  return new HttpResponse(null, {
    status: 303,
    headers: {
      "Location": location,
      "Content-Length": "0",
      "Cache-Control": "no-store",
      ...headers,
    },
  });
}

/** `GET`: the file, or a page. */
async function open(call: LinkCall, deps: Deps): Promise<Response> {
  const { link, query: text } = call;
  if (link.record.password !== undefined) {
    await requireTarget(link, deps);
    await requirePassword(call, link, deps);
  }
  const query = new Query(text);
  const { name, prefix = "" } = link.record;
  if (name !== undefined) return await openFile(call, deps, { name, query });
  const rest = query.one("name");
  if (rest !== undefined) return await openFile(call, deps, { name: prefix + rest, rest, query });
  return await openFolder(call, deps, prefix, query);
}

/** A file below a link. */
interface Wanted {
  name: string;
  /** The rest of the name after the prefix of the link; absent for a link on a file. */
  rest?: string;
  query: Query;
}

async function openFile(call: LinkCall, deps: Deps, wanted: Wanted): Promise<Response> {
  const { link, request, params, context } = call;
  const { project, drive, download, maxDownloads } = link.record;
  const { name, rest, query } = wanted;
  const isValid = fileNameProblem(name) === undefined;
  if (query.one("thumbnail") !== undefined) {
    return await openThumbnail(call, deps, { project, drive, name });
  }
  const file = isValid ? await deps.store.files.reader.open({ project, drive, name }) : undefined;
  if (file === undefined) return await refuse(link, deps);
  const isDownload = download || query.one("download") !== undefined;
  if (query.one("preview") !== undefined) {
    using _opened = file;
    context.link = "page";
    return await previewOf(call, wanted, file);
  }
  const isVisit = wantsPage(request.headers) && !request.headers.has("range");
  if (isVisit && !isDownload && hasPage(fileKind(file.record.type), wanted)) {
    file.close();
    context.link = "page";
    const below = rest === undefined ? "" : `name=${encodeURIComponent(rest)}&`;
    return redirect(`${deps.basePath}/s/${params["token"]}?${below}preview`);
  }
  context.link = "file";
  const options = sendOptionsOf(file.record);
  const { headers } = options;
  headers.set("Content-Disposition", fileDisposition({ name, ...file.record }, isDownload));
  if (isPrivate(link)) headers.set("Cache-Control", "no-store");
  if (maxDownloads !== undefined) headers.set("Accept-Ranges", "none");
  return await sendFile(call, deps, file, {
    ...options,
    range: maxDownloads === undefined ? undefined : () => undefined,
    beforeBody: () => countDownload(link, deps),
  });
}

/**
 * Whether a visitor gets the page of a file in place of the file: for audio and video, which Chromium does not play in a
 * sandbox when it navigates to them, and for what a link leads to directly, so that the visitor sees what it is.
 */
function hasPage(kind: FileKind | undefined, { rest, query }: Wanted): boolean {
  if (kind === "audio" || kind === "video") return true;
  const isWanted = rest === undefined && query.one("inline") === undefined;
  return isWanted && (kind === "image" || kind === "text");
}

/** The thumbnail of a file, without the file. */
async function openThumbnail(call: LinkCall, deps: Deps, place: Place): Promise<Response> {
  const { link, request, context } = call;
  const isValid = fileNameProblem(place.name) === undefined;
  const thumbnail = isValid ? await deps.store.files.thumbnails.get(place) : undefined;
  if (thumbnail === undefined || thumbnail === "absent") return await refuse(link, deps);
  context.link = "file";
  return await thumbnailResponse(request, thumbnail, {
    headers: isPrivate(link) ? { "Cache-Control": "no-store" } : {},
    beforeBody: () => countDownload(link, deps),
  });
}

/** @throws {HttpError} 404, as for a link that does not exist. */
async function refuse(link: OpenLink, { store }: Deps): Promise<never> {
  await store.links.refuse(link);
  throw errors.linkNotFound();
}

/** Responses of a link with a password or a limit must not be stored: they would open without either. */
function isPrivate({ record: { password, maxDownloads } }: OpenLink): boolean {
  return password !== undefined || maxDownloads !== undefined;
}

/** @throws {HttpError} 404 if the link is used up. */
async function countDownload(link: OpenLink, { store }: Deps): Promise<void> {
  if (!await store.links.countDownload(link)) throw errors.linkNotFound();
}

function isGrid(query: Query): boolean {
  return query.one("view") === "grid";
}

/** Whether pages show what is in files. With a limit, they would show what counts as a download. */
function isShown({ record: { download, maxDownloads } }: OpenLink): boolean {
  return !download && maxDownloads === undefined;
}

async function previewOf(
  { link }: LinkCall,
  { name, rest, query }: Wanted,
  file: OpenFile,
): Promise<Response> {
  const isText = isShown(link) && fileKind(file.record.type) === "text";
  return previewPage({
    name,
    record: file.record,
    query: rest === undefined ? {} : { name: rest },
    ...(rest === undefined ? {} : {
      back: { prefix: rest.slice(0, rest.lastIndexOf("/") + 1), ...viewQuery(isGrid(query)) },
    }),
    isShown: isShown(link),
    text: isText ? await beginningOf(file) : undefined,
  });
}

/** The files below a folder as a ZIP. Their paths in it begin below the folder. */
async function openArchive(
  call: LinkCall,
  deps: Deps,
  prefix: string,
): Promise<Response> {
  const { link, request, requestId, context } = call;
  const { project, drive } = link.record;
  const base = prefix.slice(0, prefix.lastIndexOf("/") + 1);
  const folder = lastSegment(prefix).replace("/", "");
  const filename = `${folder === "" ? "files" : folder}.zip`;
  const { method } = request;
  context.link = "archive";
  // It counts before anything is sent, as each file does.
  if (method === "GET") await countDownload(link, deps);
  const selection = { project, drive, names: [], prefixes: [prefix], base };
  return await archiveResponse(selection, { method, requestId, context, filename }, deps);
}

/** The folder of a link on a prefix: "nothing above the prefix can be reached", as every name begins with it. */
async function openFolder(
  call: LinkCall,
  deps: Deps,
  root: string,
  query: Query,
): Promise<Response> {
  const { project, drive } = call.link.record;
  const folder = query.one("prefix") ?? "";
  if (query.one("zip") !== undefined) return await openArchive(call, deps, root + folder);
  const last = query.one("last") ?? "";
  const { entries, more } = await deps.store.list({
    project,
    drive,
    limit: PAGE_ENTRIES,
    prefix: root + folder,
    last: last === "" ? "" : root + last,
  }, { recursive: false });
  call.context.link = "page";
  const { headers } = call.request;
  if (!wantsPage(headers) && headers.get("accept")?.includes("application/json")) {
    const names = entries.map(({ name }) => name.slice(root.length));
    return json(200, { names, ...pagingOf(names, more) });
  }
  const view = { isGrid: isGrid(query), isShown: isShown(call.link) };
  return folderPage({ root, folder, entries, last, more, ...view });
}

import * as apps from "./api/admin/apps.ts";
import { createAppKey, listAppKeys, revokeAppKey } from "./api/admin/apps.ts";
import { listEvents, listServerEvents, showServerUsage, showUsage } from "./api/admin/reports.ts";
import {
  changeProject,
  createProject,
  deleteDrive,
  deleteProject,
  listProjects,
  showProject,
} from "./api/admin/projects.ts";
import {
  createProjectKey,
  createS3Key,
  listProjectKeys,
  listS3Keys,
  revokeProjectKey,
  revokeS3Key,
  showOwnKey,
} from "./api/admin/keys.ts";
import { showStatus } from "./api/admin/status.ts";
import * as webhooks from "./api/admin/webhooks.ts";
import type { Deps } from "./api/endpoint.ts";
import { changeFile } from "./api/files/change_file.ts";
import { copyFiles, moveFiles } from "./api/files/copy_files.ts";
import { deleteFiles } from "./api/files/delete_files.ts";
import { downloadFile } from "./api/files/download_file.ts";
import { createFolder, deleteFolder, listFolders } from "./api/files/folders.ts";
import { createDrive, listDrives } from "./api/files/drives.ts";
import { listFiles } from "./api/files/list_files.ts";
import { findExisting, measureFiles } from "./api/files/lookups.ts";
import { putFile } from "./api/files/put_file.ts";
import { putThumbnail, showThumbnail } from "./api/files/thumbnails.ts";
import { followLists, listChanges } from "./api/changes/changes.ts";
import { deleteTrash, listTrash, restoreTrash } from "./api/files/trash.ts";
import {
  abortUpload,
  completeUpload,
  listUploads,
  putPart,
  showUpload,
  startUpload,
} from "./api/files/uploads.ts";
import { createArchive } from "./api/sharing/create_archive.ts";
import { createDownload, openDownload } from "./api/sessions/downloads.ts";
import {
  createSignInCode,
  endSession,
  endSessions,
  listSessions,
  showSession,
  signIn,
  signOut,
} from "./api/sessions/session.ts";
import { allowedMethods, findEndpoint, findRoute, type Route, route } from "./api/router.ts";
import { changeLink, createLink, listLinks, revokeLink } from "./api/sharing/links.ts";
import { openLink, unlockLink } from "./api/sharing/share.ts";
import { secureShared } from "./api/sharing/shared_headers.ts";
import { showDashboard, showDashboardFile } from "./api/server/dashboard.ts";
import { forwardAuth } from "./api/server/forward_auth.ts";
import { showHealth, showMetrics, showReadiness } from "./api/server/monitoring.ts";
import { showDescription } from "./api/server/openapi.ts";
import { addCorsHeaders, optionsResponse } from "./http/browser_headers.ts";
import { renderError, toHttpError } from "./http/error_response.ts";
import { errors } from "./http/http_error.ts";
import { compressJson } from "./http/responses/json_response.ts";
import { clientAddress, requestedHost, requestOrigin } from "./http/network/client_address.ts";
import {
  observeEnd,
  type RequestContext,
  requestIdOf,
  type RequestInfo,
} from "./http/request_context.ts";
import { assertHost, parseTarget, type RequestTarget } from "./http/request_target.ts";
import { withoutBody } from "./http/responses/http_response.ts";

/** The first segment of the paths of links. */
const SHARE = "s";
const DRIVE = "/v1/:project/:drive";
const UPLOAD = `${DRIVE}/uploads/:id`;
const PROJECTS = "/admin/v1/projects";
const PROJECT = `${PROJECTS}/:project`;
const APP = `${PROJECT}/apps/:app`;
const WEBHOOK = `${PROJECT}/webhooks/:webhook`;

/** Every path of the server with its endpoints. */
export const routes: readonly Route[] = [
  route("/v1/:project", { GET: listDrives }),
  route("/v1/:project/drives", { POST: createDrive }),
  route("/v1/:project/hints", { GET: followLists }),
  route(`${DRIVE}/files`, {
    GET: listFiles,
    POST: putFile,
    PATCH: changeFile,
    DELETE: deleteFiles,
  }),
  route(`${DRIVE}/files/download`, { GET: downloadFile }),
  route(`${DRIVE}/files/size`, { GET: measureFiles }),
  route(`${DRIVE}/files/exist`, { POST: findExisting }),
  route(`${DRIVE}/files/thumbnail`, { GET: showThumbnail, PUT: putThumbnail }),
  route(`${DRIVE}/files/copy`, { POST: copyFiles }),
  route(`${DRIVE}/files/move`, { POST: moveFiles }),
  route(`${DRIVE}/changes`, { GET: listChanges }),
  route(`${DRIVE}/trash`, { GET: listTrash, DELETE: deleteTrash }),
  route(`${DRIVE}/trash/restore`, { POST: restoreTrash }),
  route(`${DRIVE}/folders`, { GET: listFolders, POST: createFolder, DELETE: deleteFolder }),
  route(`${DRIVE}/archive`, { POST: createArchive }),
  route(`${DRIVE}/uploads`, { GET: listUploads, POST: startUpload }),
  route(UPLOAD, { GET: showUpload, PATCH: completeUpload, DELETE: abortUpload }),
  route(`${UPLOAD}/parts`, { POST: putPart }),

  route(`${DRIVE}/links`, { GET: listLinks, POST: createLink }),
  route(`${DRIVE}/links/:link`, { PATCH: changeLink, DELETE: revokeLink }),
  route(`/${SHARE}/:token`, { GET: openLink, POST: unlockLink }),

  route(PROJECTS, { GET: listProjects, POST: createProject }),
  route(PROJECT, { GET: showProject, PATCH: changeProject, DELETE: deleteProject }),
  route(`${PROJECT}/key`, { GET: showOwnKey }),
  route(`${PROJECT}/drives/:drive`, { DELETE: deleteDrive }),
  route(`${PROJECT}/keys`, { GET: listProjectKeys, POST: createProjectKey }),
  route(`${PROJECT}/keys/:prefix`, { DELETE: revokeProjectKey }),
  route(`${PROJECT}/s3-keys`, { GET: listS3Keys, POST: createS3Key }),
  route(`${PROJECT}/s3-keys/:accessKey`, { DELETE: revokeS3Key }),
  route(`${PROJECT}/apps`, { GET: apps.listApps, POST: apps.createApp }),
  route(APP, { GET: apps.showApp, PATCH: apps.changeApp, DELETE: apps.deleteApp }),
  route(`${APP}/access`, { GET: apps.showAccess, PUT: apps.switchAccess }),
  route(`${APP}/keys`, { GET: listAppKeys, POST: createAppKey }),
  route(`${APP}/keys/:name`, { DELETE: revokeAppKey }),
  route(`${PROJECT}/webhooks`, { GET: webhooks.listWebhooks, POST: webhooks.createWebhook }),
  route(WEBHOOK, { PATCH: webhooks.changeWebhook, DELETE: webhooks.deleteWebhook }),
  route(`${WEBHOOK}/test`, { POST: webhooks.testWebhook }),
  route(`${PROJECT}/events`, { GET: listEvents }),
  route("/admin/v1/events", { GET: listServerEvents }),
  route(`${PROJECT}/usage`, { GET: showUsage }),
  route("/admin/v1/usage", { GET: showServerUsage }),
  route("/admin/v1/status", { GET: showStatus }),

  route("/auth/:project/:app", { GET: forwardAuth }),
  route("/", { GET: showDashboard }),
  route("/dashboard/assets/:file", { GET: showDashboardFile }),
  route("/dashboard/session", { GET: showSession, POST: signIn, DELETE: signOut }),
  route("/dashboard/sessions", { GET: listSessions, DELETE: endSessions }),
  route("/dashboard/sessions/:session", { DELETE: endSession }),
  route("/admin/v1/sign-in-codes", { POST: createSignInCode }),
  route("/dashboard/downloads", { POST: createDownload }),
  route("/dashboard/download/:ticket", { GET: openDownload }),
  route("/openapi.json", { GET: showDescription(() => routes) }),
  route("/healthz", { GET: showHealth }),
  route("/readyz", { GET: showReadiness }),
  route("/metrics", { GET: showMetrics }),
];

/** The paths, of one segment, that are not for pages of other origins, and so without CORS headers. */
const WITHOUT_CORS = new Set(["", "healthz", "readyz", "metrics", "openapi.json"]);

/** The service: answers every request, and never throws. */
export function createApp(
  deps: Deps,
): (request: Request, info: RequestInfo) => Promise<Response> {
  return async (request, info) => {
    const requestId = requestIdOf(request.headers);
    const context = deps.observer.begin(requestId, request.method);
    const target = parseTarget(request, deps.basePath);
    const incoming: Incoming = { request, requestId, target, info, context };
    const answer = await deps.running.track(request, () => dispatch(incoming, deps))
      .catch((error: unknown) => failureOf(error, requestId, deps));
    const response = context.usesSession ? await compressJson(answer, request.headers) : answer;
    if (isAdministration(target)) response.headers.set("Cache-Control", "no-store");
    if (allowsCors(target)) addCorsHeaders(response.headers, request.headers, deps.corsOrigins);
    if (isShared(target) || isDownload(target)) secureShared(response.headers);
    response.headers.set("X-Request-Id", requestId);
    const sent = request.method === "HEAD" ? withoutBody(response) : response;
    observeEnd(incoming, sent, deps);
    return sent;
  };
}

/** A request as it arrived. */
interface Incoming {
  request: Request;
  requestId: string;
  target: RequestTarget;
  info: RequestInfo;
  context: RequestContext;
}

/** "Order of checks: route → method → key → parameters → body"; the endpoint does the last three. */
async function dispatch(incoming: Incoming, deps: Deps): Promise<Response> {
  const { request, requestId, target, info, context } = incoming;
  const { headers, method } = request;
  assertHost(headers);
  assertServedHere(target, headers, deps);
  const { route, params } = findRoute(routes, target.segments, deps.basePath);
  const endpoint = findEndpoint(route, method);
  deps.observer.route(context, route.name, endpoint?.kind ?? "other");
  if (method === "OPTIONS") {
    return optionsResponse(allowsCors(target) ? headers : new Headers(), allowedMethods(route));
  }
  if (endpoint === undefined) throw errors.methodNotAllowed(method, allowedMethods(route));
  if (deps.isDraining() && !endpoint.duringShutdown) throw errors.shuttingDown();
  const address = () => clientAddress(info.remoteAddr, headers, deps.trustedProxies);
  const { query } = target;
  const origin = () => requestOrigin(request.url, headers, info.remoteAddr, deps.trustedProxies);
  const { connection } = info;
  const routed = { request, requestId, address, origin, connection, context, params, query };
  return await endpoint.handle(routed, deps);
}

function failureOf(error: unknown, requestId: string, { onError }: Deps): Response {
  const rendered = toHttpError(error);
  if (rendered.status >= 500 && rendered.cause !== undefined) onError(rendered.cause, requestId);
  return renderError(rendered);
}

/** Whether pages of the origins in `--cors-origin` may read the responses. `/openapi.json` is readable by pages of every origin. */
function allowsCors({ segments }: RequestTarget): boolean {
  const [first = ""] = segments;
  if (first === "admin" || first === "dashboard" || first === SHARE) return false;
  return segments.length > 1 || !WITHOUT_CORS.has(first);
}

function isAdministration({ segments }: RequestTarget): boolean {
  return segments[0] === "admin";
}

/** Whether a request is for a link, whose files must never act as a part of this server. */
function isShared({ segments }: RequestTarget): boolean {
  return segments[0] === SHARE;
}

/** Whether a request is for the files of a download ticket, to which the same applies. */
function isDownload({ segments: [first, second] }: RequestTarget): boolean {
  return first === "dashboard" && second === "download";
}

/** @throws {HttpError} 404 if links have a host name of their own, and this request mixes the two. */
function assertServedHere(
  target: RequestTarget,
  headers: Headers,
  { share, basePath }: Deps,
): void {
  if (share.host === undefined) return;
  const isShareHost = requestedHost(headers) === share.host;
  if (isShareHost && !isShared(target)) throw errors.linkNotFound();
  if (!isShareHost && isShared(target)) throw errors.routeNotFound(basePath);
}

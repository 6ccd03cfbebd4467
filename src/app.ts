import { forAdministrator, forOwner } from "./api/admin/admin_call.ts";
import { showAccess, switchAccess } from "./api/admin/app_access.ts";
import { createAppKey, listAppKeys, revokeAppKey } from "./api/admin/app_keys.ts";
import {
  changeApp,
  createApp as registerApp,
  deleteApp,
  listApps,
  showApp,
} from "./api/admin/apps.ts";
import { changeProject, deleteDrive, deleteProject, showProject } from "./api/admin/project.ts";
import { createProjectKey, listProjectKeys, revokeProjectKey } from "./api/admin/project_keys.ts";
import { createProject, listProjects } from "./api/admin/projects.ts";
import { driveRoute } from "./api/drive_call.ts";
import { deleteFiles } from "./api/files/delete_files.ts";
import { downloadFile } from "./api/files/download_file.ts";
import { listDrives } from "./api/files/list_drives.ts";
import { listFiles } from "./api/files/list_files.ts";
import { putFile } from "./api/files/put_file.ts";
import { allowedMethods, type Deps, findRoute, type Route, route } from "./api/router.ts";
import { showDashboard, showDashboardFile } from "./api/server/dashboard.ts";
import { forwardAuth } from "./api/server/forward_auth.ts";
import { showHealth, showReadiness } from "./api/server/health.ts";
import { showMetrics } from "./api/server/metrics.ts";
import { showDescription } from "./api/server/openapi.ts";
import { abortUpload } from "./api/uploads/abort_upload.ts";
import { completeUpload } from "./api/uploads/complete_upload.ts";
import { listUploads } from "./api/uploads/list_uploads.ts";
import { putPart } from "./api/uploads/put_part.ts";
import { showUpload } from "./api/uploads/show_upload.ts";
import { startUpload } from "./api/uploads/start_upload.ts";
import { addCorsHeaders, answerOptions } from "./http/cors.ts";
import { errors, renderError, toHttpError } from "./http/http_error.ts";
import { clientAddress } from "./http/network/client_address.ts";
import { type RequestContext, requestIdOf, type RequestKind } from "./http/request_context.ts";
import { assertHost, parseTarget, type RequestTarget } from "./http/request_target.ts";

const DRIVE = "/v1/:project/:drive";
const PROJECTS = "/admin/v1/projects";
const PROJECT = `${PROJECTS}/:project`;
const APP = `${PROJECT}/apps/:app`;

const DOWNLOAD = `${DRIVE}/files/download`;
const PARTS = `${DRIVE}/uploads/:id/parts`;

/** What is asked of the server itself. Pages of other origins have nothing to do with it. */
const HEALTH = "/healthz";
const READINESS = "/readyz";
const METRICS = "/metrics";
const OF_THE_SERVER = new Set([HEALTH, READINESS, METRICS]);

const DESCRIPTION = "/openapi.json";

/** What is answered also while the server comes to its end. */
const PROBES = new Set([HEALTH, READINESS]);

/** Every path and what answers there. `src/openapi/` describes the same to callers. */
export const routes: readonly Route[] = [
  route(HEALTH, { GET: showHealth }),
  route(READINESS, { GET: showReadiness }),
  route(METRICS, { GET: showMetrics }),

  route("/", { GET: showDashboard }),
  route("/dashboard/:folder/:file", { GET: showDashboardFile }),

  driveRoute("/v1/:project", { GET: listDrives }),
  driveRoute(`${DRIVE}/files`, { GET: listFiles, POST: putFile, DELETE: deleteFiles }),
  driveRoute(DOWNLOAD, { GET: downloadFile }),
  driveRoute(`${DRIVE}/uploads`, { GET: listUploads, POST: startUpload }),
  driveRoute(`${DRIVE}/uploads/:id`, {
    GET: showUpload,
    PATCH: completeUpload,
    DELETE: abortUpload,
  }),
  driveRoute(PARTS, { POST: putPart }),

  route(PROJECTS, { GET: forAdministrator(listProjects), POST: forAdministrator(createProject) }),
  route(PROJECT, {
    GET: forOwner(showProject),
    PATCH: forAdministrator(changeProject),
    DELETE: forAdministrator(deleteProject),
  }),
  route(`${PROJECT}/drives/:drive`, { DELETE: forOwner(deleteDrive) }),
  route(`${PROJECT}/keys`, { GET: forOwner(listProjectKeys), POST: forOwner(createProjectKey) }),
  route(`${PROJECT}/keys/:prefix`, { DELETE: forOwner(revokeProjectKey) }),
  route(`${PROJECT}/apps`, { GET: forOwner(listApps), POST: forOwner(registerApp) }),
  route(APP, { GET: forOwner(showApp), PATCH: forOwner(changeApp), DELETE: forOwner(deleteApp) }),
  route(`${APP}/access`, { GET: forOwner(showAccess), PUT: forOwner(switchAccess) }),
  route(`${APP}/keys`, { GET: forOwner(listAppKeys), POST: forOwner(createAppKey) }),
  route(`${APP}/keys/:name`, { DELETE: forOwner(revokeAppKey) }),

  route("/auth/:project/:app", { GET: forwardAuth }),

  route(DESCRIPTION, { GET: showDescription }),
];

/** The service: gives the answer to a request. It never throws. */
export function createApp(
  deps: Deps,
): (request: Request, info: Deno.ServeHandlerInfo) => Promise<Response> {
  return async (request, info) => {
    const requestId = requestIdOf(request.headers);
    const visit = deps.watch.begin(requestId, request.method);
    const target = parseTarget(request);
    const asked: Asked = { request, requestId, target, info, visit };
    const answering = deps.running.track(request, () => answer(asked, deps));
    const response = await answering.catch((error: unknown) => {
      const rendered = toHttpError(error);
      if (rendered.status >= 500 && rendered.cause !== undefined) {
        deps.onError(rendered.cause, requestId);
      }
      return renderError(rendered);
    });
    if (isAdministration(target)) response.headers.set("Cache-Control", "no-store");
    if (!isOwnPages(target)) addCorsHeaders(response.headers, request.headers, deps.corsOrigins);
    response.headers.set("X-Request-Id", requestId);
    const sent = request.method === "HEAD" ? withoutBody(response) : response;
    watchEnd(visit, sent, info, deps);
    return sent;
  };
}

function withoutBody(response: Response): Response {
  if (response.body === null) return response;
  const { status, headers } = response;
  return new Response(null, { status, headers });
}

/**
 * Bytes of an answer that lies in memory are handed over in one go; those of a stream are counted as they leave. Whether
 * there is a body is not asked for: that would make a stream of it, which costs more than the request.
 */
function watchEnd(
  visit: RequestContext,
  response: Response,
  info: Deno.ServeHandlerInfo,
  deps: Deps,
): void {
  visit.status = response.status;
  if (!visit.isStreaming && visit.method !== "HEAD" && response.status !== 304) {
    visit.sent = Number(response.headers.get("content-length") ?? 0);
  }
  const end = () => deps.watch.end(visit);
  info.completed.then(end, end);
}

/** A request as it came. */
interface Asked {
  request: Request;
  requestId: string;
  target: RequestTarget;
  info: Deno.ServeHandlerInfo;
  visit: RequestContext;
}

/** "route → method → key → parameters → body": nothing is looked at before what stands left of it holds. */
async function answer(asked: Asked, deps: Deps): Promise<Response> {
  const { request, requestId, target, info, visit } = asked;
  assertHost(request.headers);
  const { name, methods, params } = findRoute(routes, target.segments);
  const { method } = request;
  deps.watch.route(visit, name, kindOf(name, method));
  if (method === "OPTIONS") {
    const headers = isOwnPages(target) ? new Headers() : request.headers;
    return answerOptions(headers, allowedMethods(methods));
  }
  // A method may have the name of something that every object has.
  const handler = Object.hasOwn(methods, method) ? methods[method] : undefined;
  if (handler === undefined) throw errors.methodNotAllowed(method, allowedMethods(methods));
  if (deps.isDraining() && !PROBES.has(name)) throw errors.shuttingDown();
  const address = () => clientAddress(info.remoteAddr, request.headers, deps.trustedProxies);
  const { query } = target;
  return await handler({ request, requestId, address, visit, params, query }, deps);
}

const DOWNLOADS = route(DOWNLOAD, {}).name;
const UPLOADS = new Set([route(`${DRIVE}/files`, {}).name, route(PARTS, {}).name]);

function kindOf(route: string, method: string): RequestKind {
  if (route === DOWNLOADS) return "download";
  return method === "POST" && UPLOADS.has(route) ? "upload" : "other";
}

/** What `--cors-origin` says nothing of: what no page of another origin has to do with, and the description, which is for all. */
function isOwnPages(target: RequestTarget): boolean {
  const [first = ""] = target.segments;
  if (isAdministration(target) || first === "dashboard") return true;
  const path = `/${first}`;
  return target.segments.length === 1 &&
    (first === "" || path === DESCRIPTION || OF_THE_SERVER.has(path));
}

function isAdministration({ segments }: RequestTarget): boolean {
  return segments[0] === "admin";
}

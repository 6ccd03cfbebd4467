import { byAdministrator, byOwner } from "./http/admin_call.ts";
import { clientAddress } from "./http/client_address.ts";
import { addCorsHeaders, answerOptions } from "./http/cors.ts";
import { driveRoute } from "./http/drive_call.ts";
import { errors } from "./http/http_error.ts";
import { renderError, toHttpError } from "./http/render_error.ts";
import { requestIdOf } from "./http/request_id.ts";
import { assertHost, parseTarget, type RequestTarget } from "./http/request_target.ts";
import { allowedMethods, type Deps, findRoute, type Route, route } from "./http/router.ts";
import type { Visit, VisitKind } from "./http/visit.ts";
import { abortUpload } from "./routes/abort_upload.ts";
import { showAccess, switchAccess } from "./routes/admin/access.ts";
import {
  changeApp,
  createApp as registerApp,
  deleteApp,
  listApps,
  showApp,
} from "./routes/admin/apps.ts";
import { createAppKey, listAppKeys, revokeAppKey } from "./routes/admin/app_keys.ts";
import { changeProject, deleteDrive, deleteProject, showProject } from "./routes/admin/project.ts";
import {
  createProjectKey,
  listProjectKeys,
  revokeProjectKey,
} from "./routes/admin/project_keys.ts";
import { createProject, listProjects } from "./routes/admin/projects.ts";
import { completeUpload } from "./routes/complete_upload.ts";
import { showDashboard, showDashboardFile } from "./routes/dashboard.ts";
import { deleteFiles } from "./routes/delete_files.ts";
import { downloadFile } from "./routes/download_file.ts";
import { forwardAuth } from "./routes/forward_auth.ts";
import { showHealth, showReadiness } from "./routes/health.ts";
import { listDrives } from "./routes/list_drives.ts";
import { listFiles } from "./routes/list_files.ts";
import { listUploads } from "./routes/list_uploads.ts";
import { showMetrics } from "./routes/metrics.ts";
import { showDescription } from "./routes/openapi.ts";
import { putFile } from "./routes/put_file.ts";
import { putPart } from "./routes/put_part.ts";
import { showUpload } from "./routes/show_upload.ts";
import { startUpload } from "./routes/start_upload.ts";

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

  route(PROJECTS, { GET: byAdministrator(listProjects), POST: byAdministrator(createProject) }),
  route(PROJECT, {
    GET: byOwner(showProject),
    PATCH: byAdministrator(changeProject),
    DELETE: byAdministrator(deleteProject),
  }),
  route(`${PROJECT}/drives/:drive`, { DELETE: byOwner(deleteDrive) }),
  route(`${PROJECT}/keys`, { GET: byOwner(listProjectKeys), POST: byOwner(createProjectKey) }),
  route(`${PROJECT}/keys/:prefix`, { DELETE: byOwner(revokeProjectKey) }),
  route(`${PROJECT}/apps`, { GET: byOwner(listApps), POST: byOwner(registerApp) }),
  route(APP, { GET: byOwner(showApp), PATCH: byOwner(changeApp), DELETE: byOwner(deleteApp) }),
  route(`${APP}/access`, { GET: byOwner(showAccess), PUT: byOwner(switchAccess) }),
  route(`${APP}/keys`, { GET: byOwner(listAppKeys), POST: byOwner(createAppKey) }),
  route(`${APP}/keys/:name`, { DELETE: byOwner(revokeAppKey) }),

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
    const answering = deps.running.during(request, () => answer(asked, deps));
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
function watchEnd(visit: Visit, response: Response, info: Deno.ServeHandlerInfo, deps: Deps): void {
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
  visit: Visit;
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
  if (handler === undefined) throw errors.badMethod(method, allowedMethods(methods));
  if (deps.isDraining() && !PROBES.has(name)) throw errors.shuttingDown();
  const address = () => clientAddress(info.remoteAddr, request.headers, deps.trustedProxies);
  const { query } = target;
  return await handler({ request, requestId, address, visit, params, query }, deps);
}

const DOWNLOADS = route(DOWNLOAD, {}).name;
const UPLOADS = new Set([route(`${DRIVE}/files`, {}).name, route(PARTS, {}).name]);

function kindOf(route: string, method: string): VisitKind {
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

import { driveNameProblem } from "./drive/names.ts";
import { authenticate } from "./http/authenticate.ts";
import { addCorsHeaders, answerOptions } from "./http/cors.ts";
import { errors } from "./http/http_error.ts";
import { Query } from "./http/query.ts";
import { renderError, toHttpError } from "./http/render_error.ts";
import { RequestIds } from "./http/request_id.ts";
import { decodeSegment, parseTarget, type RequestTarget } from "./http/request_target.ts";
import { allowedMethods, type Deps, findRoute, type Match, route } from "./http/router.ts";
import { abortUpload } from "./routes/abort_upload.ts";
import { completeUpload } from "./routes/complete_upload.ts";
import { deleteFiles } from "./routes/delete_files.ts";
import { downloadFile } from "./routes/download_file.ts";
import { listDrives } from "./routes/list_drives.ts";
import { listFiles } from "./routes/list_files.ts";
import { listUploads } from "./routes/list_uploads.ts";
import { putFile } from "./routes/put_file.ts";
import { putPart } from "./routes/put_part.ts";
import { showUpload } from "./routes/show_upload.ts";
import { startUpload } from "./routes/start_upload.ts";

const DRIVE = "/v1/:project/:drive";

const routes = [
  route("/v1/:project", { GET: listDrives }),
  route(`${DRIVE}/files`, { GET: listFiles, POST: putFile, DELETE: deleteFiles }),
  route(`${DRIVE}/files/download`, { GET: downloadFile }),
  route(`${DRIVE}/uploads`, { GET: listUploads, POST: startUpload }),
  route(`${DRIVE}/uploads/:id`, { GET: showUpload, PATCH: completeUpload, DELETE: abortUpload }),
  route(`${DRIVE}/uploads/:id/parts`, { POST: putPart }),
];

/** The service: gives the answer to a request. It never throws. */
export function createApp(deps: Deps): (request: Request) => Promise<Response> {
  const requestIds = new RequestIds();
  return async (request) => {
    const requestId = requestIds.of(request.headers);
    const answering = deps.running.during(request, () => answer(request, requestId, deps));
    const response = await answering.catch((error: unknown) => {
      const rendered = toHttpError(error);
      if (rendered.status >= 500 && rendered.cause !== undefined) {
        deps.onError(rendered.cause, requestId);
      }
      return renderError(rendered);
    });
    addCorsHeaders(response.headers, request.headers, deps.corsOrigins);
    response.headers.set("X-Request-Id", requestId);
    if (request.method !== "HEAD" || response.body === null) return response;
    const { status, headers } = response;
    return new Response(null, { status, headers });
  };
}

/** "route → method → key → parameters → body": nothing is looked at before what stands left of it holds. */
async function answer(request: Request, requestId: string, deps: Deps): Promise<Response> {
  const target = parseTarget(request);
  const found = findRoute(routes, target.segments);
  const { method } = request;
  if (method === "OPTIONS") return answerOptions(request.headers, allowedMethods(found.methods));
  // A method may have the name of something that every object has.
  const handler = Object.hasOwn(found.methods, method) ? found.methods[method] : undefined;
  if (handler === undefined) throw errors.badMethod(method, allowedMethods(found.methods));
  if (deps.isDraining()) throw errors.shuttingDown();
  const project = decodeLeniently(found.params["project"] ?? "");
  await authenticate(request.headers, project, deps.store.projects);
  const params = pathParameters(found, target);
  return await handler({ request, requestId, project, ...params }, deps);
}

/** What is in the path behind the project, and the query. @throws {HttpError} 400 where it is malformed. */
function pathParameters(
  { params }: Match,
  target: RequestTarget,
): { drive: string; id: string; query: Query } {
  const drive = params["drive"] === undefined ? "" : decodeSegment(params["drive"]);
  const problem = params["drive"] === undefined ? undefined : driveNameProblem(drive);
  if (problem !== undefined) throw errors.badDriveName(problem);
  return { drive, id: decodeSegment(params["id"] ?? ""), query: new Query(target.query) };
}

/** A project that cannot be decoded is one that no key opens: that is said before anything of its form. */
function decodeLeniently(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}

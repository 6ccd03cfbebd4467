import {
  authenticateCaller,
  hasBearerToken,
  reauthenticate,
  requireProjectKey,
} from "../http/authentication.ts";
import { errors } from "../http/http_error.ts";
import type { RequestContext } from "../http/request_context.ts";
import { decodeLeniently, decodeSegment, Query } from "../http/request_target.ts";
import { MAX_CONTENT_TYPE, namedContentType } from "../rules/content_type.ts";
import { driveNameProblem, fileNameProblem, isProjectId } from "../rules/names.ts";
import type { Preconditions } from "../rules/preconditions.ts";
import { NoSuchProject } from "../store/engine/errors.ts";
import type { Place } from "../store/engine/records.ts";
import { type Deps, type Handler, type Route, route, type RoutedRequest } from "./router.ts";

/** A request of the file API on its way to its handler, whose sender may do this. */
export interface DriveCall {
  request: Request;
  requestId: string;
  project: string;
  /** Empty where the route has none. */
  drive: string;
  /** The upload's id; empty where the route has none. */
  id: string;
  query: Query;
  visit: RequestContext;
  /**
   * To be called right before what the request brings is stored.
   *
   * @throws {HttpError} 401 where its key or token was revoked since it came in.
   */
  reauthorize: () => Promise<void>;
}

export type DriveHandler = (call: DriveCall, deps: Deps) => Promise<Response>;

/** A path of the file API and what answers there to the project's owner and the administrator. */
export function driveRoute(path: string, handlers: Record<string, DriveHandler>): Route {
  const methods = Object.entries(handlers).map(([method, handler]) => [method, owned(handler)]);
  return route(path, Object.fromEntries(methods));
}

/** "key → parameters → body": nothing is looked at before what stands left of it holds. */
function owned(handler: DriveHandler): Handler {
  return async (incoming, deps) => {
    // A project that cannot be decoded is one that no key opens: that is said before anything of its form.
    const project = decodeLeniently(incoming.params["project"] ?? "");
    const { isAdministrator, again } = await authorize(incoming, project, deps);
    try {
      return await handler(driveCallOf(incoming, project, again), deps);
    } catch (error) {
      // To an owner it is a key that opens nothing any more.
      throw isAdministrator && error instanceof NoSuchProject
        ? errors.projectNotFound(project)
        : error;
    }
  };
}

/**
 * "Every drive request carries the header `X-Api-Key`": where it does, that decides. Without it the administrator's token
 * opens the drives of every project.
 *
 * @returns Whether it is the administrator, and how to find out later that the sender may still do it.
 * @throws {HttpError} 401, 429 or 403 as for keys; 404 where the administrator names a project that there is not.
 */
async function authorize(
  { request: { headers }, address, visit }: RoutedRequest,
  project: string,
  { store, wrongKeys }: Deps,
): Promise<{ isAdministrator: boolean; again: DriveCall["reauthorize"] }> {
  const entrance = { keys: store.keys, wrongKeys, address, visit };
  if (headers.has("x-api-key") || !hasBearerToken(headers)) {
    await requireProjectKey(headers, project, entrance);
    const again = () => reauthenticate(headers, project, entrance);
    return { isAdministrator: false, again };
  }
  await authenticateCaller(headers, store.projects, entrance);
  const isThere = isProjectId(project) && await store.projects.get(project) !== undefined;
  if (!isThere) throw errors.projectNotFound(project);
  const again = async () => void await authenticateCaller(headers, store.projects, entrance);
  return { isAdministrator: true, again };
}

function driveCallOf(
  { request, requestId, visit, params, query }: RoutedRequest,
  project: string,
  authorizeAgain: DriveCall["reauthorize"],
): DriveCall {
  const drive = params["drive"] === undefined ? "" : driveOf(params["drive"]);
  const id = decodeSegment(params["id"] ?? "");
  return {
    request,
    requestId,
    visit,
    project,
    drive,
    id,
    query: new Query(query),
    reauthorize: authorizeAgain,
  };
}

/** The drive that a segment of a path names. @throws {HttpError} 400 where it can be none. */
function driveOf(segment: string): string {
  const drive = decodeSegment(segment);
  const problem = driveNameProblem(drive);
  if (problem !== undefined) throw errors.badDriveName(problem);
  return drive;
}

/** The conditional headers of a request. */
export function preconditionsOf(headers: Headers): Preconditions {
  return {
    ifMatch: headers.get("if-match"),
    ifNoneMatch: headers.get("if-none-match"),
    ifModifiedSince: headers.get("if-modified-since"),
    ifUnmodifiedSince: headers.get("if-unmodified-since"),
    ifRange: headers.get("if-range"),
  };
}

/** The file that a call names. @throws {HttpError} 400 where `name` is missing or cannot be one. */
export function placeOf({ project, drive, query }: DriveCall): Place {
  const name = query.required("name");
  const problem = fileNameProblem(name);
  if (problem !== undefined) throw errors.badFileName(problem);
  return { project, drive, name };
}

/** The content type that a call names; `undefined` where it names none. @throws {HttpError} 400 where it is too long. */
export function typeOf({ request }: DriveCall): string | undefined {
  const type = namedContentType(request.headers.get("content-type"));
  if (type !== undefined && type.length > MAX_CONTENT_TYPE) {
    throw errors.badContentType(MAX_CONTENT_TYPE);
  }
  return type;
}

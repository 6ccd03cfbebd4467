import { driveNameProblem, isProjectId } from "../drive/names.ts";
import { NoSuchProject } from "../store/errors.ts";
import { callerOf, hasToken } from "./admin_caller.ts";
import { authenticate, authenticateAgain } from "./authenticate.ts";
import { errors } from "./http_error.ts";
import { Query } from "./query.ts";
import { decodeLeniently, decodeSegment } from "./request_target.ts";
import type { Visit } from "./visit.ts";
import { type Deps, type Handler, type Incoming, type Route, route } from "./router.ts";

/** A request of the file API on its way to its handler, whose sender may do this. */
export interface Call {
  request: Request;
  requestId: string;
  project: string;
  /** Empty where the route has none. */
  drive: string;
  /** The upload's id; empty where the route has none. */
  id: string;
  query: Query;
  visit: Visit;
  /**
   * To be called right before what the request brings is stored.
   *
   * @throws {HttpError} 401 where its key or token was revoked since it came in.
   */
  authorizeAgain: () => Promise<void>;
}

export type DriveHandler = (call: Call, deps: Deps) => Promise<Response>;

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
    const { isAdministrator, again } = await admit(incoming, project, deps);
    try {
      return await handler(callOf(incoming, project, again), deps);
    } catch (error) {
      // To an owner it is a key that opens nothing any more.
      throw isAdministrator && error instanceof NoSuchProject ? errors.noProject(project) : error;
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
async function admit(
  { request: { headers }, address, visit }: Incoming,
  project: string,
  { store, wrongKeys }: Deps,
): Promise<{ isAdministrator: boolean; again: Call["authorizeAgain"] }> {
  const entrance = { keys: store.keys, wrongKeys, address, visit };
  if (headers.has("x-api-key") || !hasToken(headers)) {
    await authenticate(headers, project, entrance);
    const again = () => authenticateAgain(headers, project, entrance);
    return { isAdministrator: false, again };
  }
  await callerOf(headers, store.projects, entrance);
  const isThere = isProjectId(project) && await store.projects.get(project) !== undefined;
  if (!isThere) throw errors.noProject(project);
  const again = async () => void await callerOf(headers, store.projects, entrance);
  return { isAdministrator: true, again };
}

function callOf(
  { request, requestId, visit, params, query }: Incoming,
  project: string,
  authorizeAgain: Call["authorizeAgain"],
): Call {
  const drive = params["drive"] === undefined ? "" : driveOf(params["drive"]);
  const id = decodeSegment(params["id"] ?? "");
  return { request, requestId, visit, project, drive, id, query: new Query(query), authorizeAgain };
}

/** The drive that a segment of a path names. @throws {HttpError} 400 where it can be none. */
function driveOf(segment: string): string {
  const drive = decodeSegment(segment);
  const problem = driveNameProblem(drive);
  if (problem !== undefined) throw errors.badDriveName(problem);
  return drive;
}

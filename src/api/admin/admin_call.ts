import { authenticateCaller, type Caller } from "../../http/authentication.ts";
import { errors } from "../../http/http_error.ts";
import type { RequestContext } from "../../http/request_context.ts";
import { decodeLeniently, decodeSegment, Query } from "../../http/request_target.ts";
import { isProjectId } from "../../rules/names.ts";
import type { ProjectInfo } from "../../store/accounts/projects.ts";
import { NoSuchProject } from "../../store/engine/errors.ts";
import type { Deps, Handler, RoutedRequest } from "../router.ts";

/** A request to the administration on its way to its handler, whose sender may do this. */
export interface AdminCall {
  request: Request;
  visit: RequestContext;
  /** Whether it is the administrator who asks, and not the project's owner. */
  isAdministrator: boolean;
  /** What stands in the path for the route's names, decoded. */
  params: Record<string, string>;
}

/** The same below one project, which exists. */
export interface ProjectCall extends AdminCall {
  project: string;
  info: ProjectInfo;
}

/** What only the administrator may ask for. */
export function forAdministrator(
  handler: (call: AdminCall, deps: Deps) => Promise<Response>,
): Handler {
  return async (incoming, deps) => {
    const caller = await authenticateIncoming(incoming, deps);
    if (!caller.isAdministrator) throw errors.administratorOnly();
    return await handler(adminCallOf(incoming, caller), deps);
  };
}

/** What the administrator and the owner of the project in the path may ask for. */
export function forOwner(
  handler: (call: ProjectCall, deps: Deps) => Promise<Response>,
): Handler {
  return async (incoming, deps) => {
    const caller = await authenticateIncoming(incoming, deps);
    const asked = decodeLeniently(incoming.params["project"] ?? "");
    if (!caller.isAdministrator && caller.project !== asked) throw errors.wrongProject();
    const call = adminCallOf(incoming, caller);
    const project = call.params["project"] ?? "";
    const info = isProjectId(project) ? await deps.store.projects.get(project) : undefined;
    // To an owner it is a key that opens nothing any more: it was believed a moment longer than the project was there.
    const gone = () =>
      caller.isAdministrator ? errors.projectNotFound(project) : errors.unknownKey();
    if (info === undefined) throw gone();
    try {
      return await handler({ ...call, project, info }, deps);
    } catch (error) {
      throw error instanceof NoSuchProject ? gone() : error;
    }
  };
}

async function authenticateIncoming(
  { request, address, visit }: RoutedRequest,
  deps: Deps,
): Promise<Caller> {
  const { projects, keys } = deps.store;
  const entrance = { keys, wrongKeys: deps.wrongKeys, address, visit };
  return await authenticateCaller(request.headers, projects, entrance);
}

/** @throws {HttpError} 400 where path or query are not percent-encoded UTF-8. */
function adminCallOf(
  { request, visit, params, query }: RoutedRequest,
  { isAdministrator }: Caller,
): AdminCall {
  const decoded = Object.entries(params).map(([name, value]) => [name, decodeSegment(value)]);
  // No call here has parameters, and unknown ones are ignored, unless they are malformed.
  new Query(query);
  return { request, visit, isAdministrator, params: Object.fromEntries(decoded) };
}

import { isProjectId } from "../drive/names.ts";
import { NoSuchProject } from "../store/errors.ts";
import type { ProjectInfo } from "../store/project_store.ts";
import { type Caller, callerOf } from "./admin_caller.ts";
import { errors } from "./http_error.ts";
import { Query } from "./query.ts";
import { decodeLeniently, decodeSegment } from "./request_target.ts";
import type { Deps, Handler, Incoming } from "./router.ts";
import type { Visit } from "./visit.ts";

/** A request to the administration on its way to its handler, whose sender may do this. */
export interface AdminCall {
  request: Request;
  visit: Visit;
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
export function byAdministrator(
  handler: (call: AdminCall, deps: Deps) => Promise<Response>,
): Handler {
  return async (incoming, deps) => {
    const caller = await callerTo(incoming, deps);
    if (!caller.isAdministrator) throw errors.administratorOnly();
    return await handler(callOf(incoming, caller), deps);
  };
}

/** What the administrator and the owner of the project in the path may ask for. */
export function byOwner(
  handler: (call: ProjectCall, deps: Deps) => Promise<Response>,
): Handler {
  return async (incoming, deps) => {
    const caller = await callerTo(incoming, deps);
    const asked = decodeLeniently(incoming.params["project"] ?? "");
    if (!caller.isAdministrator && caller.project !== asked) throw errors.otherProject();
    const call = callOf(incoming, caller);
    const project = call.params["project"] ?? "";
    const info = isProjectId(project) ? await deps.store.projects.get(project) : undefined;
    // To an owner it is a key that opens nothing any more: it was believed a moment longer than the project was there.
    const gone = () => caller.isAdministrator ? errors.noProject(project) : errors.unknownKey();
    if (info === undefined) throw gone();
    try {
      return await handler({ ...call, project, info }, deps);
    } catch (error) {
      throw error instanceof NoSuchProject ? gone() : error;
    }
  };
}

async function callerTo({ request, address, visit }: Incoming, deps: Deps): Promise<Caller> {
  const { projects, keys } = deps.store;
  const entrance = { keys, wrongKeys: deps.wrongKeys, address, visit };
  return await callerOf(request.headers, projects, entrance);
}

/** @throws {HttpError} 400 where path or query are not percent-encoded UTF-8. */
function callOf(
  { request, visit, params, query }: Incoming,
  { isAdministrator }: Caller,
): AdminCall {
  const decoded = Object.entries(params).map(([name, value]) => [name, decodeSegment(value)]);
  // No call here has parameters, and unknown ones are ignored, unless they are malformed.
  new Query(query);
  return { request, visit, isAdministrator, params: Object.fromEntries(decoded) };
}

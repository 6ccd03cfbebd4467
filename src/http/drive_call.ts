import { driveNameProblem } from "../drive/names.ts";
import { authenticate } from "./authenticate.ts";
import { errors } from "./http_error.ts";
import { Query } from "./query.ts";
import { decodeLeniently, decodeSegment } from "./request_target.ts";
import { type Deps, type Handler, type Incoming, type Route, route } from "./router.ts";

/** A request of the file API on its way to its handler, whose key was accepted. */
export interface Call {
  request: Request;
  requestId: string;
  project: string;
  /** Empty where the route has none. */
  drive: string;
  /** The upload's id; empty where the route has none. */
  id: string;
  query: Query;
}

export type DriveHandler = (call: Call, deps: Deps) => Promise<Response>;

/** A path of the file API and what answers there to those who have the project's key. */
export function driveRoute(path: string, handlers: Record<string, DriveHandler>): Route {
  const methods = Object.entries(handlers).map(([method, handler]) => [method, owned(handler)]);
  return route(path, Object.fromEntries(methods));
}

/** "key → parameters → body": nothing is looked at before what stands left of it holds. */
function owned(handler: DriveHandler): Handler {
  return async (incoming, deps) => await handler(await callOf(incoming, deps), deps);
}

async function callOf(
  { request, requestId, address, params, query }: Incoming,
  { store, wrongKeys }: Deps,
): Promise<Call> {
  // A project that cannot be decoded is one that no key opens: that is said before anything of its form.
  const project = decodeLeniently(params["project"] ?? "");
  const entrance = { keys: store.keys, wrongKeys, address };
  await authenticate(request.headers, project, entrance);
  const drive = params["drive"] === undefined ? "" : driveOf(params["drive"]);
  const id = decodeSegment(params["id"] ?? "");
  return { request, requestId, project, drive, id, query: new Query(query) };
}

/** The drive that a segment of a path names. @throws {HttpError} 400 where it can be none. */
function driveOf(segment: string): string {
  const drive = decodeSegment(segment);
  const problem = driveNameProblem(drive);
  if (problem !== undefined) throw errors.badDriveName(problem);
  return drive;
}

import { gateErrors } from "./gate_response.ts";
import { decodeSegment } from "../http/request_target.ts";
import { hostnameOf, type HostRules } from "../rules/hosts.ts";
import { appNameProblem, isProjectId } from "../rules/names.ts";
import type { AppInfo, AppStore } from "../store/accounts/apps.ts";

/** The application that a request is routed to. */
export interface Route {
  app: AppInfo;
  /**
   * Whether the application exists. A missing one is treated like a protected one until the client has shown a key of
   * the project, so that others cannot find out which applications exist.
   */
  exists: boolean;
  /** The path in front of the application's own: `/project/app`, or nothing if it has a host name. */
  prefix: string;
  /** The application's part of the target, or `undefined` if the path is the prefix without a slash after it. */
  target: string | undefined;
}

/** Where applications are looked up. */
export interface AppDirectory {
  apps: Pick<AppStore, "find" | "findByHost">;
  hosts: HostRules;
}

/** A segment `.` or `..` in any spelling that some server resolves: encoded, between backslashes, with a parameter. */
const DOT_SEGMENT = /(?:^|[/\\]|%2f|%5c)(?:\.|%2e){1,2}(?:[/\\;]|%2f|%5c|%3b|$)/i;

/**
 * Finds the application of a request: by host name, or under the gate's own names by the first two segments of the
 * path.
 *
 * @throws {HttpError} 404 if no application can have this address, 400 if the path could lead out of the application.
 */
export async function findRoute(
  { apps, hosts }: AppDirectory,
  { host, target }: { host: string | undefined; target: string },
): Promise<Route> {
  const hostname = host === undefined ? undefined : hostnameOf(host);
  if (hostname !== undefined && !hosts.isGate(hostname)) {
    const app = await findByHost({ apps, hosts }, hostname);
    if (app === undefined) throw gateErrors.hostNotFound();
    return { app, exists: true, prefix: "", target };
  }
  const { project, app, rest } = splitTarget(target);
  if (!isProjectId(project) || appNameProblem(app) !== undefined) throw gateErrors.hostNotFound();
  if (rest !== undefined) requireNoDotSegments(rest);
  const found = await apps.find(project, app);
  return {
    app: found ?? { project, app, created: 0, access: true },
    exists: found !== undefined,
    // The names in the store's spelling, which may be percent-encoded in the request.
    prefix: `/${project}/${app}`,
    target: rest,
  };
}

/**
 * Returns the application with a host name. Checks again whether the name can be claimed, as the application may be
 * older than the server's settings.
 */
export async function findByHost(
  { apps, hosts }: AppDirectory,
  hostname: string,
): Promise<AppInfo | undefined> {
  const app = await apps.findByHost(hostname);
  return app !== undefined && hosts.isClaimable(hostname) ? app : undefined;
}

interface TargetParts {
  project: string;
  app: string;
  /** The path and query after the application's name, unchanged. */
  rest: string | undefined;
}

function splitTarget(target: string): TargetParts {
  const question = target.indexOf("?");
  const end = question === -1 ? target.length : question;
  const second = target.indexOf("/", 1);
  if (second === -1 || second >= end) throw gateErrors.hostNotFound();
  const third = target.indexOf("/", second + 1);
  const hasRest = third !== -1 && third < end;
  return {
    project: decodeSegment(target.slice(1, second)),
    app: decodeSegment(target.slice(second + 1, hasRest ? third : end)),
    rest: hasRest ? target.slice(third) : undefined,
  };
}

/** @throws {HttpError} 400 if some server could resolve the path to one outside of the application. */
function requireNoDotSegments(rest: string): void {
  const question = rest.indexOf("?");
  const path = question === -1 ? rest : rest.slice(0, question);
  if (path.includes("\\") || DOT_SEGMENT.test(path)) throw gateErrors.dotSegments();
}

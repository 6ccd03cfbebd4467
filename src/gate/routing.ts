import { errors } from "../http/http_error.ts";
import { hostnameOf, type HostRules } from "../rules/hosts.ts";
import { appNameProblem, isProjectId } from "../rules/names.ts";
import type { AppInfo, AppStore } from "../store/accounts/apps.ts";

/** Where a request goes. */
export interface Route {
  app: AppInfo;
  /**
   * Whether the application exists. One that does not is treated as a protected one up to the moment when the caller
   * has shown a key of the project, so that others cannot find out which ones exist.
   */
  exists: boolean;
  /** What stands before the application's own paths: `/project/app`, or nothing where it has its host name. */
  prefix: string;
  /** What the application is asked for; `undefined` where the path is the prefix alone, without a slash behind. */
  target: string | undefined;
}

/** What the gate needs to find applications. */
export interface AppDirectory {
  apps: Pick<AppStore, "find" | "findByHost">;
  hosts: HostRules;
}

/**
 * A segment `.` or `..` in any spelling that somebody may read so: encoded, between backslashes, with a parameter behind.
 */
const DOT_SEGMENT = /(?:^|[/\\]|%2f|%5c)(?:\.|%2e){1,2}(?:[/\\;]|%2f|%5c|%3b|$)/i;

/**
 * Finds the application that a request is for: by its host name, or, under the gate's own names, by the first two segments
 * of its path.
 *
 * @throws {HttpError} 404 where there can be none, 400 where the path leads elsewhere for some readers.
 */
export async function findRoute(
  { apps, hosts }: AppDirectory,
  { host, target }: { host: string | undefined; target: string },
): Promise<Route> {
  const name = host === undefined ? undefined : hostnameOf(host);
  if (name !== undefined && !hosts.isGate(name)) {
    const app = await findByHost({ apps, hosts }, name);
    if (app === undefined) throw errors.hostNotFound();
    return { app, exists: true, prefix: "", target };
  }
  const { project, app, rest } = splitTarget(target);
  if (!isProjectId(project) || appNameProblem(app) !== undefined) throw errors.hostNotFound();
  if (rest !== undefined) demandWithin(rest);
  const found = await apps.find(project, app);
  return {
    app: found ?? { project, app, created: 0, access: true },
    exists: found !== undefined,
    // As the store has the names, not as the caller spelled them.
    prefix: `/${project}/${app}`,
    target: rest,
  };
}

/**
 * The application with a host name. A name that none can claim is judged here again: an older store may have it, or the
 * server may have been given it since.
 */
export async function findByHost(
  { apps, hosts }: AppDirectory,
  name: string,
): Promise<AppInfo | undefined> {
  const app = await apps.findByHost(name);
  return app !== undefined && hosts.isClaimable(name) ? app : undefined;
}

/** The path and query that are the application's own, as they came. */
interface Parts {
  project: string;
  app: string;
  rest: string | undefined;
}

function splitTarget(target: string): Parts {
  const question = target.indexOf("?");
  const end = question === -1 ? target.length : question;
  const second = target.indexOf("/", 1);
  if (second === -1 || second >= end) throw errors.hostNotFound();
  const third = target.indexOf("/", second + 1);
  const hasRest = third !== -1 && third < end;
  return {
    project: decode(target.slice(1, second)),
    app: decode(target.slice(second + 1, hasRest ? third : end)),
    rest: hasRest ? target.slice(third) : undefined,
  };
}

/** @throws {HttpError} 400 where a path could be read as one outside of the application. */
function demandWithin(rest: string): void {
  const question = rest.indexOf("?");
  const path = question === -1 ? rest : rest.slice(0, question);
  if (path.includes("\\") || DOT_SEGMENT.test(path)) throw errors.dotSegments();
}

function decode(segment: string): string {
  if (!segment.includes("%")) return segment;
  try {
    return decodeURIComponent(segment);
  } catch {
    throw errors.badEncoding("path");
  }
}

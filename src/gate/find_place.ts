import { errors } from "../http/http_error.ts";
import type { AppInfo, AppStore } from "../store/app_store.ts";

/** Where a request goes. */
export interface Place {
  app: AppInfo;
  /** What stands before the application's own paths: `/project/app`, or nothing where it has its host name. */
  prefix: string;
  /** What the application is asked for; `undefined` where the path is the prefix alone, without a slash behind. */
  target: string | undefined;
}

/**
 * A segment `.` or `..` in any spelling that somebody may read so: encoded, between backslashes, with a parameter behind.
 */
const DOT_SEGMENT = /(?:^|[/\\]|%2f|%5c)(?:\.|%2e){1,2}(?:[/\\;]|%2f|%5c|%3b|$)/i;

/**
 * Finds the application that a request is for: by its host name, else by the first two segments of its path.
 *
 * @throws {HttpError} 404 where there is none, 400 where the path leads elsewhere for some readers.
 */
export async function findPlace(
  apps: Pick<AppStore, "find" | "findByHost">,
  { host, target }: { host: string | undefined; target: string },
): Promise<Place> {
  const named = host === undefined ? undefined : await apps.findByHost(hostName(host));
  if (named !== undefined) return { app: named, prefix: "", target };
  const parts = splitTarget(target);
  const app = await apps.find(parts.project, parts.app);
  if (app === undefined) throw errors.nothingHosted();
  const { rest } = parts;
  if (rest !== undefined) demandWithin(rest);
  // As the store has the names, not as the caller spelled them.
  return { app, prefix: `/${app.project}/${app.app}`, target: rest };
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
  if (second === -1 || second >= end) throw errors.nothingHosted();
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
  if (path.includes("\\") || DOT_SEGMENT.test(path)) throw errors.climbingPath();
}

function decode(segment: string): string {
  if (!segment.includes("%")) return segment;
  try {
    return decodeURIComponent(segment);
  } catch {
    throw errors.badEncoding("path");
  }
}

/** The host name of a Host header, as applications have it. */
export function hostName(host: string): string {
  const colon = host.lastIndexOf(":");
  const name = colon > host.lastIndexOf("]") ? host.slice(0, colon) : host;
  return (name.endsWith(".") ? name.slice(0, -1) : name).toLowerCase();
}

import { errors } from "../http/http_error.ts";
import type { Endpoint } from "./endpoint.ts";

/** The endpoints of a path, by method. */
export type Endpoints = Readonly<Record<string, Endpoint>>;

export interface Route {
  /** Such as `/v1/:project/:drive/files`. */
  path: string;
  /** The name in logs and metrics: `/v1/{project}/{drive}/files`. */
  name: string;
  segments: readonly string[];
  /** Without `HEAD`, which `GET` answers, and `OPTIONS`. */
  endpoints: Endpoints;
}

/** A route that fits a path. */
export interface Match {
  route: Route;
  /** The parameters of the path, percent-encoded. */
  params: Record<string, string>;
}

/** The route for a path such as `/v1/:project/:drive/files`. */
export function route(path: string, endpoints: Endpoints): Route {
  return {
    path,
    name: path.replaceAll(/:(\w+)/g, "{$1}"),
    segments: path.slice(1).split("/"),
    endpoints,
  };
}

/**
 * Finds the route of a path.
 *
 * @param basePath The path that the routes are below, for the message.
 * @throws {HttpError} 404 if no route has this path.
 */
export function findRoute(
  routes: readonly Route[],
  segments: readonly string[],
  basePath = "",
): Match {
  for (const route of routes) {
    if (route.segments.length !== segments.length) continue;
    const params: Record<string, string> = {};
    const fits = route.segments.every((part, i) => {
      const segment = segments[i] ?? "";
      if (!part.startsWith(":")) return part === segment;
      if (segment === "") return false;
      params[part.slice(1)] = segment;
      return true;
    });
    if (fits) return { route, params };
  }
  throw errors.routeNotFound(basePath);
}

/** The endpoint for a method; `undefined` if the route does not support it. */
export function findEndpoint({ endpoints }: Route, method: string): Endpoint | undefined {
  const wanted = method === "HEAD" ? "GET" : method;
  // A method may be named like a property that every object inherits.
  return Object.hasOwn(endpoints, wanted) ? endpoints[wanted] : undefined;
}

/** The methods that a route supports, for the `Allow` header. */
export function allowedMethods({ endpoints }: Route): string {
  const head = "GET" in endpoints ? ["HEAD"] : [];
  return [...Object.keys(endpoints), ...head, "OPTIONS"].join(", ");
}

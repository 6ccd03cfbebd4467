import type { Pace } from "../http/body.ts";
import type { CorsOrigins } from "../http/cors.ts";
import { errors } from "../http/http_error.ts";
import type { MetricsPage } from "../http/metrics/metrics_page.ts";
import type { TrustedProxies } from "../http/network/client_address.ts";
import type { UpstreamRules } from "../http/network/upstream_rules.ts";
import type { WrongKeyLimiter } from "../http/network/wrong_keys.ts";
import type { RequestContext } from "../http/request_context.ts";
import type { RequestObserver } from "../http/request_observer.ts";
import type { PageFiles } from "../http/static_files.ts";
import type { RunningUploads, UploadSlots } from "../http/upload_slots.ts";
import type { HostRules } from "../rules/hosts.ts";
import type { BackupStatus } from "../store/backup/backup_health.ts";
import type { VolumeQuery } from "../store/disk/volume.ts";
import type { Store } from "../store/store.ts";
import type { Readiness } from "./server/health.ts";

/** Where callers find the gate to applications, on whatever host name they know the server by. */
export interface GateAddress {
  port: number;
  scheme: "http" | "https";
}

/** What the program gives to its routes. */
export interface Deps {
  store: Store;
  /** The files of the page for people. */
  dashboard: PageFiles;
  /** The disk that the store is on. */
  volume: VolumeQuery;
  /** How the server's backups are; absent if it makes none. */
  backups?: (() => BackupStatus) | undefined;
  /** Where the gate to applications listens, if there is one. */
  gate: GateAddress | undefined;
  /** Which host names applications may have. */
  hosts: HostRules;
  /** Where the gate connects to. */
  upstreamRules: UpstreamRules;
  corsOrigins: CorsOrigins;
  /** Whether `failed` of a delete result is an object of name and reason, which one client library needs. */
  failedReasons: boolean;
  /** How long a body may give nothing and a reader take nothing, in milliseconds. */
  idleTimeout: number;
  slots: UploadSlots;
  /** How slowly a file or a part may come; as slowly as it likes, unless given. */
  uploadPace: Pace | undefined;
  running: RunningUploads;
  wrongKeys: WrongKeyLimiter;
  /** Proxies that are believed what they say of a caller's address, if any. */
  trustedProxies: TrustedProxies | undefined;
  /** Whether the server takes no new work because it is about to end. */
  isDraining: () => boolean;
  /** Sees every request begin and end. */
  watch: RequestObserver;
  /** The figures that are gathered. */
  metrics: Pick<MetricsPage, "render">;
  /** SHA-256 of the token that opens them, beside the administrator's, if there is one. */
  metricsToken: string | undefined;
  /** Whether the store can be worked with. */
  readiness: Readiness;
  /** Told of defects and damage, with the id of the request. */
  onError: (error: unknown, requestId: string) => void;
}

/** A request that has found its route. Nobody has looked yet whether it may come in. */
export interface RoutedRequest {
  request: Request;
  requestId: string;
  /** Where it comes from. */
  address: () => string;
  /** What stands in the path for `:project`, `:drive` and so on, percent-encoded. */
  params: Record<string, string>;
  visit: RequestContext;
  /** Behind the question mark, percent-encoded. */
  query: string;
}

export type Handler = (incoming: RoutedRequest, deps: Deps) => Promise<Response>;

/** Handlers by method. */
export type Methods = Partial<Record<string, Handler>>;

export interface Route {
  /** As logs and metrics name it: `/v1/{project}/{drive}/files`. */
  name: string;
  pattern: readonly string[];
  methods: Methods;
}

export interface Match {
  name: string;
  methods: Methods;
  /** What stands in the path for the pattern's names, percent-encoded. */
  params: Record<string, string>;
}

/** A path such as `/v1/:project/:drive/files` and what answers there. */
export function route(path: string, methods: Methods): Route {
  const { GET } = methods;
  const name = path.replaceAll(/:(\w+)/g, "{$1}");
  return {
    name,
    pattern: path.slice(1).split("/"),
    methods: GET ? { ...methods, HEAD: GET } : methods,
  };
}

/** @throws {HttpError} 404 where no route has this path. */
export function findRoute(routes: readonly Route[], segments: readonly string[]): Match {
  for (const { name, pattern, methods } of routes) {
    if (pattern.length !== segments.length) continue;
    const params: Record<string, string> = {};
    const fits = pattern.every((part, i) => {
      const segment = segments[i] ?? "";
      if (!part.startsWith(":")) return part === segment;
      if (segment === "") return false;
      params[part.slice(1)] = segment;
      return true;
    });
    if (fits) return { name, methods, params };
  }
  throw errors.routeNotFound();
}

/** The methods that a route answers, as `Allow` lists them. */
export function allowedMethods(methods: Methods): string {
  return [...Object.keys(methods), "OPTIONS"].join(", ");
}

import type { HostRules } from "../drive/hosts.ts";
import type { BackupStatus } from "../store/backup_health.ts";
import type { AskVolume } from "../store/disk_space.ts";
import type { Store } from "../store/store.ts";
import type { Pace } from "./body.ts";
import type { TrustedProxies } from "./client_address.ts";
import type { CorsOrigins } from "./cors.ts";
import { errors } from "./http_error.ts";
import type { MetricsPage } from "./metrics/metrics_page.ts";
import type { PageFiles } from "./page_files.ts";
import type { Readiness } from "./readiness.ts";
import type { RunningUploads } from "./running_uploads.ts";
import type { UploadSlots } from "./upload_slots.ts";
import type { UpstreamRules } from "./upstream_rules.ts";
import type { Visit } from "./visit.ts";
import type { Watch } from "./watch.ts";
import type { WrongKeys } from "./wrong_keys.ts";

/** Where callers find the gate to applications, on whatever host name they know the server by. */
export interface GatePlace {
  port: number;
  scheme: "http" | "https";
}

/** What the program gives to its routes. */
export interface Deps {
  store: Store;
  /** The files of the page for people. */
  dashboard: PageFiles;
  /** The disk that the store is on. */
  volume: AskVolume;
  /** How the server's backups are; absent if it makes none. */
  backups?: (() => BackupStatus) | undefined;
  /** Where the gate to applications listens, if there is one. */
  gate: GatePlace | undefined;
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
  wrongKeys: WrongKeys;
  /** Proxies that are believed what they say of a caller's address, if any. */
  trustedProxies: TrustedProxies | undefined;
  /** Whether the server takes no new work because it is about to end. */
  isDraining: () => boolean;
  /** Sees every request begin and end. */
  watch: Watch;
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
export interface Incoming {
  request: Request;
  requestId: string;
  /** Where it comes from. */
  address: () => string;
  /** What stands in the path for `:project`, `:drive` and so on, percent-encoded. */
  params: Record<string, string>;
  visit: Visit;
  /** Behind the question mark, percent-encoded. */
  query: string;
}

export type Handler = (incoming: Incoming, deps: Deps) => Promise<Response>;

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
  throw errors.noRoute();
}

/** The methods that a route answers, as `Allow` lists them. */
export function allowedMethods(methods: Methods): string {
  return [...Object.keys(methods), "OPTIONS"].join(", ");
}

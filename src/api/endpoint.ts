import type { AdminToken } from "../http/authentication.ts";
import type { MetricsPage } from "../http/metrics/metrics_page.ts";
import type { UpstreamRules } from "../http/network/upstream_rules.ts";
import type { WrongKeyLimiter } from "../http/network/wrong_keys.ts";
import type { RequestConnection, RequestContext, RequestKind } from "../http/request_context.ts";
import type { StaticFiles } from "../http/responses/static_files.ts";
import type { ServerParts } from "../http/server_parts.ts";
import { noCredentials } from "../openapi/info.ts";
import type { Access, OperationDescription } from "../openapi/operation.ts";
import type { HostRules } from "../rules/hosts.ts";
import type { BackupStatus } from "../store/backup/backup_health.ts";
import type { SnapshotStatus } from "../store/snapshots/repository_backups.ts";
import type { VolumeQuery } from "../store/disk/volume.ts";
import type { WebhookDeliverer } from "../webhooks/deliverer.ts";

/** The address of the gate to applications, on any host name of this server. */
export interface GateAddress {
  port: number;
  scheme: "http" | "https";
}

/** Where links are served. */
export interface ShareAddress {
  /** The origin that clients use, such as `https://files.example.com`; absent for that of each request. */
  publicUrl: string | undefined;
  /** The only host name for links, in lower case, which is for nothing else; absent if links share the server's. */
  host: string | undefined;
}

/** What the program knows of itself, besides the store. */
export interface ProgramStatus {
  version: string;
  /** How it was built, as `kvdrive version` prints it. */
  build: string;
  /** Whether its store is a file of its own, or shared over a network. */
  storeKind: "file" | "shared";
  /** Bytes of the store's file and its log; `undefined` if they are not known. */
  storeSize: () => Promise<number | undefined>;
  /** Bytes of the disk that uploads leave free. */
  diskReserve: number;
  /** The load of the server, and what its background work knows. */
  load: () => Promise<ServerLoad>;
}

/** The load of a process of the server, or the sum over its processes, and what one of them knows. */
export interface ServerLoad {
  running: Readonly<Record<RequestKind, number>>;
  /** Resident memory, and the JavaScript heap in use, in bytes. */
  memory: { resident: number; heap: number };
  /** When the oldest process was started, in milliseconds since 1970. */
  started: number;
  /** The processes that answered. */
  processes: number;
  /** The state of the server's backups; absent if it makes none. */
  backup?: BackupStatus | undefined;
  /** The state of its snapshots; absent if it takes none. */
  snapshots?: SnapshotStatus | undefined;
  /** What the operator should know about settings and files, as sentences without a period. */
  warnings: string[];
}

/** What the endpoints need from the program. */
export interface Deps extends ServerParts {
  /** Knows the secret of the administrator. */
  administrator: AdminToken;
  dashboard: StaticFiles;
  /** Size and free space of the store's disk. */
  volume: VolumeQuery;
  program: ProgramStatus;
  /** Absent if there is no gate. */
  gate: GateAddress | undefined;
  /** Where links are served. */
  share: ShareAddress;
  /** The path that all routes are below, such as `/files`; empty for none. */
  basePath: string;
  /** Wrong passwords, by link. They count as wrong keys, too, but wrong keys delay no password. */
  wrongPasswords: WrongKeyLimiter;
  /** Returns the address of S3 for clients that reach the server at an origin; `undefined` if S3 is off. */
  s3: (origin: string) => string | undefined;
  /** How many days the trash of a new project keeps files, unless its maker says so; 0 for no trash. */
  trashDays: number;
  /** Whether WebDAV is on. */
  hasWebdav: boolean;
  hosts: HostRules;
  upstreamRules: UpstreamRules;
  /** The addresses that webhooks may call. */
  webhookRules: UpstreamRules;
  webhooks: Pick<WebhookDeliverer, "test">;
  /** Whether `failed` of a delete result is an object of name and reason, which one client library needs. */
  failedReasons: boolean;
  metrics: Pick<MetricsPage, "render">;
  /** SHA-256 of the token for metrics, if there is one. The administrator's token is accepted as well. */
  metricsToken: string | undefined;
  readiness: {
    /** Whether the store can be used. */
    isReady(): Promise<boolean>;
  };
}

/** A request whose route is known, but whose sender has not been authenticated. */
export interface RoutedRequest {
  request: Request;
  requestId: string;
  address: () => string;
  /** Returns the origin that the client requested, such as `https://files.example.com`. */
  origin: () => string;
  /** Absent if the runtime's own server has received the request. */
  connection: RequestConnection | undefined;
  /** The parameters of the path, such as `:project`, percent-encoded. */
  params: Record<string, string>;
  context: RequestContext;
  /** The query string without `?`, percent-encoded. */
  query: string;
}

/** Handles a request. It may throw an `HttpError` or an error of the store. */
export type Handler = (request: RoutedRequest, deps: Deps) => Promise<Response>;

/** One method of one path: its description in `/openapi.json` and its handler. */
export interface Endpoint {
  operation: OperationDescription;
  access: Access;
  handle: Handler;
  /** How its requests are counted while they run; `other` if absent. */
  kind?: RequestKind;
  /** Whether it also answers while the server is shutting down. */
  duringShutdown?: boolean;
}

/** An endpoint that needs no credentials. */
export function publicEndpoint(
  operation: OperationDescription,
  handle: Handler,
  options: Pick<Endpoint, "duringShutdown"> = {},
): Endpoint {
  return { operation, access: { security: noCredentials }, handle, ...options };
}

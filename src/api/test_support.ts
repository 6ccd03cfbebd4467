import { AllowedUpstreams, FOR_WEBHOOKS, UpstreamRules } from "../http/network/upstream_rules.ts";
import { WrongKeyLimiter } from "../http/network/wrong_keys.ts";
import { Query } from "../http/request_target.ts";
import { StaticFiles } from "../http/responses/static_files.ts";
import { someContext, testParts } from "../http/test_support.ts";
import { HostRules } from "../rules/hosts.ts";
import { Rights } from "../rules/rights.ts";
import type { Store } from "../store/store.ts";
import type { DriveCall } from "./drive_call.ts";
import type { Deps, RoutedRequest, ServerLoad } from "./endpoint.ts";

/** The load of a server that does nothing. */
export const NO_LOAD: ServerLoad = {
  running: { upload: 0, download: 0, gate: 0, other: 0 },
  memory: { resident: 0, heap: 0 },
  started: 0,
  processes: 1,
  warnings: [],
};

/** A server's dependencies on this store, with defaults for everything else. */
export async function testDeps(store: Store, own: Partial<Deps> = {}): Promise<Deps> {
  return {
    trashDays: 0,
    hasWebdav: true,
    ...testParts(store),
    administrator: store.adminToken,
    dashboard: StaticFiles.of(new Map()),
    volume: () => Promise.resolve(undefined),
    program: {
      version: "0.0.0",
      build: "from source",
      storeKind: "file",
      storeSize: () => Promise.resolve(undefined),
      diskReserve: 0,
      load: () => Promise.resolve(NO_LOAD),
    },
    gate: undefined,
    share: { publicUrl: undefined, host: undefined },
    basePath: "",
    wrongPasswords: new WrongKeyLimiter(),
    s3: () => undefined,
    hosts: await HostRules.load({ own: [], gate: [] }),
    upstreamRules: new UpstreamRules(AllowedUpstreams.none, new Set()),
    webhookRules: new UpstreamRules(AllowedUpstreams.none, new Set(), FOR_WEBHOOKS),
    webhooks: { test: () => Promise.resolve({ body: "", duration: 0 }) },
    failedReasons: false,
    metrics: { render: () => Promise.resolve("") },
    metricsToken: undefined,
    readiness: { isReady: () => Promise.resolve(true) },
    ...own,
  };
}

/** A request whose route is known. @param params The parameters of its path. */
export function routedRequest(
  method: string,
  params: Record<string, string>,
  headers: Record<string, string>,
): RoutedRequest {
  return {
    request: new Request("http://kv.example/", { method, headers }),
    requestId: "r1",
    origin: () => "http://kv.example",
    connection: undefined,
    address: () => "192.0.2.1",
    params,
    context: someContext(),
    query: "",
  };
}

/** A request to the drive `d` of the project `p`, whose sender is authorized. */
export function driveCall(request: Request, own: Partial<DriveCall> = {}): DriveCall {
  return {
    ...routedRequest("GET", {}, {}),
    request,
    actor: () => ({ by: "admin", address: "192.0.2.1" }),
    reauthorize: () => Promise.resolve(),
    rights: Rights.all,
    caller: { isAdministrator: true, rights: Rights.all, hash: "" },
    project: "p",
    drive: "d",
    id: "",
    query: new Query(""),
    ...own,
  };
}

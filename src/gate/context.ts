import type { TrustedProxies } from "../http/network/client_address.ts";
import type { UpstreamRules } from "../http/network/upstream_rules.ts";
import type { WrongKeyLimiter } from "../http/network/wrong_keys.ts";
import type { RequestObserver } from "../http/request_context.ts";
import type { Clock } from "../http1/connection_table.ts";
import type { HostRules } from "../rules/hosts.ts";
import type { Store } from "../store/store.ts";
import type { Upstreams } from "./upstreams.ts";

export interface GateDeps {
  store: Pick<Store, "apps" | "appKeys" | "keys" | "sessions" | "revocations">;
  wrongKeys: WrongKeyLimiter;
  /** Proxies whose `X-Forwarded-*` headers are trusted. */
  trustedProxies: TrustedProxies | undefined;
  hosts: HostRules;
  upstreamRules: UpstreamRules;
  /** How long a client may pause within a request, in milliseconds. */
  idleTimeout: number;
  /** How long an application may take to start its response, in milliseconds. */
  appsTimeout: number;
  /** How long nothing may be transferred once the response has started, in milliseconds. */
  appsIdleTimeout: number;
  /** Whether browsers have to use https only. */
  hsts: boolean;
  /** Notified of the start and end of every request. */
  observer: RequestObserver;
  /** Called for defects of the gate itself, not for failures of applications or clients. */
  onError: (error: unknown, requestId?: string) => void;
}

export type AuthorizationContext = Pick<
  GateContext,
  "store" | "wrongKeys" | "trustedProxies" | "hosts" | "upstreams"
>;

/** State shared by all connections of the gate. */
export interface GateContext extends GateDeps {
  clock: Clock;
  upstreams: Upstreams;
  /** Whether the gate is shutting down and accepts no new requests. */
  isDraining: boolean;
}

import type { TrustedProxies } from "../http/network/client_address.ts";
import type { UpstreamRules } from "../http/network/upstream_rules.ts";
import type { WrongKeyLimiter } from "../http/network/wrong_keys.ts";
import type { RequestObserver } from "../http/request_observer.ts";
import type { Clock } from "../http1/connection_table.ts";
import type { HostRules } from "../rules/hosts.ts";
import type { Store } from "../store/store.ts";
import type { Upstreams } from "./upstreams.ts";

/** What the program gives to the gate. */
export interface GateDeps {
  store: Pick<Store, "apps" | "appKeys" | "keys" | "sessions" | "revocations">;
  wrongKeys: WrongKeyLimiter;
  /** Proxies that are believed what they say of a caller, if any. */
  trustedProxies: TrustedProxies | undefined;
  /** Which host names applications may have. */
  hosts: HostRules;
  /** Where the gate connects to. */
  upstreamRules: UpstreamRules;
  /** How long a caller may be silent in the middle of a request, in milliseconds. */
  idleTimeout: number;
  /** How long an application may take to begin its answer, in milliseconds. */
  appsTimeout: number;
  /** Sees every request begin and end. */
  watch: RequestObserver;
  /** Told of our own defects, with the id of the request. What is wrong with an application or a caller is none. */
  onError: (error: unknown, requestId?: string) => void;
}

/** What it needs to let somebody in. */
export type AuthorizationContext = Pick<
  GateContext,
  "store" | "wrongKeys" | "trustedProxies" | "hosts" | "upstreams"
>;

/** What all connections of the gate share. */
export interface GateContext extends GateDeps {
  clock: Clock;
  upstreams: Upstreams;
  /** Whether the gate takes no new requests because it is about to end. */
  isDraining: boolean;
}

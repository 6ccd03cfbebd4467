import type { HostRules } from "../drive/hosts.ts";
import type { TrustedProxies } from "../http/client_address.ts";
import type { UpstreamRules } from "../http/upstream_rules.ts";
import type { Watch } from "../http/watch.ts";
import type { WrongKeys } from "../http/wrong_keys.ts";
import type { Store } from "../store/store.ts";
import type { Clock } from "../http1/clock.ts";
import type { Upstreams } from "./upstreams.ts";

/** What the program gives to the gate. */
export interface GateDeps {
  store: Pick<Store, "apps" | "appKeys" | "keys" | "sessions" | "revocations">;
  wrongKeys: WrongKeys;
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
  watch: Watch;
  /** Told of our own defects, with the id of the request. What is wrong with an application or a caller is none. */
  onError: (error: unknown, requestId?: string) => void;
}

/** What it needs to let somebody in. */
export type Doorkeeper = Pick<
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

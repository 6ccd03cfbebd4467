import { createApp } from "../../app.ts";
import type { Deps } from "../../api/endpoint.ts";
import { Connection, type ConnectionOptions } from "../../client/connection.ts";
import { AllowedUpstreams, UpstreamRules } from "../../http/network/upstream_rules.ts";
import { WrongKeyLimiter } from "../../http/network/wrong_keys.ts";
import { toRuntimeResponse } from "../../http/responses/http_response.ts";
import { StaticFiles } from "../../http/responses/static_files.ts";
import { RunningUploads } from "../../http/upload_slots.ts";
import { HostRules } from "../../rules/hosts.ts";
import { hashSecret, newSecret } from "../../rules/secrets.ts";
import { COMMAND_LINE } from "../../store/accounts/events.ts";
import { unknownVolume } from "../../store/disk/volume.ts";
import type { Store } from "../../store/store.ts";
import { buildKind } from "../../version.ts";
import { variableOf } from "../options/arguments.ts";
import { readServeOptions, serverNamesIn } from "../options/serve_options.ts";
import { UPSTREAMS } from "../options/value_types.ts";
import { appDeps } from "../serve/app_deps.ts";
import { Observation } from "../serve/observation.ts";
import type { Environment } from "../terminal/output.ts";

/** The address in requests that never leave the process. */
const HOST = "localhost";

/** The sender of these requests, whose address the audit logs leave empty. */
const SENDER: Deno.NetAddr = { transport: "tcp", hostname: COMMAND_LINE.address, port: 0 };

/**
 * Connects to a store on this machine, next to a server that may use it: the API answers within this process. The caller
 * is the administrator, whom the audit logs name `command line`.
 *
 * @param place The folder of the store as an absolute path, or its URL.
 */
export async function connectToStore(
  store: Store,
  place: string,
  env: Environment,
  options: Pick<ConnectionOptions, "project" | "retrier" | "limiter">,
): Promise<Connection> {
  const secret = newSecret();
  const app = createApp(await depsOf(store, hashSecret(secret), env));
  const info = { remoteAddr: SENDER, completed: Promise.resolve() };
  return new Connection({
    ...options,
    url: `http://${HOST}`,
    credentials: { kind: "token", secret },
    local: {
      place,
      fetch: async (url, init) => toRuntimeResponse(await app(new LocalRequest(url, init), info)),
    },
  });
}

/** The dependencies of the API. Of the server's settings it has those that the environment tells. */
async function depsOf(store: Store, tokenHash: string, env: Environment): Promise<Deps> {
  const observation = new Observation({ log: "off", data: undefined, build: buildKind(env) });
  const allowed = UPSTREAMS.parse(env[variableOf("allow-upstream")] ?? "") ?? AllowedUpstreams.none;
  return {
    ...appDeps(readServeOptions(new Map(), {}), observation, {
      store,
      dashboard: StaticFiles.of(new Map()),
      volume: unknownVolume,
      gate: undefined,
      s3: () => undefined,
      hosts: await HostRules.load(serverNamesIn(env)),
      upstreamRules: new UpstreamRules(allowed, new Set()),
      running: new RunningUploads(),
      wrongKeys: new WrongKeyLimiter(),
      isDraining: () => false,
    }),
    administrator: {
      actor: COMMAND_LINE.by,
      hasHash: (hash) => Promise.resolve(hash === tokenHash),
    },
  };
}

/** A request that keeps its URL. That of a plain `Request` has no path with a segment `.` or `..`. */
class LocalRequest extends Request {
  constructor(readonly target: string, init: RequestInit) {
    super(`http://${HOST}/`, init);
    this.headers.set("Host", HOST);
  }

  override get url(): string {
    return this.target;
  }
}

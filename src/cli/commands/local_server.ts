import { commandRetrier, Connection } from "../../client/connection.ts";
import { AllowedUpstreams } from "../../http/network/upstream_rules.ts";
import { StaticFiles } from "../../http/responses/static_files.ts";
import { hashSecret, newSecret } from "../../rules/secrets.ts";
import { standardLog } from "../../server/log.ts";
import { Observation } from "../../server/observation.ts";
import { LOCAL_CLIENT, RuntimeHandler } from "../../server/runtime_handler.ts";
import { Server } from "../../server/server.ts";
import { COMMAND_LINE } from "../../store/accounts/events.ts";
import type { Store } from "../../store/store.ts";
import { buildKind } from "../../version.ts";
import { variableOf } from "../options/arguments.ts";
import { readServeOptions, serverNamesIn } from "../options/serve_options.ts";
import { UPSTREAMS } from "../options/value_types.ts";
import type { Environment } from "../terminal/output.ts";

/** The address in requests that never leave the process. */
const HOST = "localhost";

/**
 * Connects to a store on this machine, next to a server that may use it: the API answers within this process. The caller
 * is the administrator, whom the audit logs name `command line`. Of the server's settings, those that the environment
 * tells apply.
 *
 * @param place The folder of the store as an absolute path, or its URL.
 */
export async function connectToStore(
  store: Store,
  place: string,
  env: Environment,
  { project }: { project?: string } = {},
): Promise<Connection> {
  const secret = newSecret();
  const allowed = (option: string) =>
    UPSTREAMS.parse(env[variableOf(option)] ?? "") ?? AllowedUpstreams.none;
  const server = await Server.on(store, {
    settings: {
      ...readServeOptions(new Map(), {}),
      allowedUpstreams: allowed("allow-upstream"),
      allowedWebhooks: allowed("allow-webhook"),
    },
    observation: new Observation({
      log: standardLog("off"),
      data: undefined,
      build: buildKind(env),
    }),
    names: serverNamesIn(env),
    dashboard: StaticFiles.of(new Map()),
  });
  const hash = hashSecret(secret);
  const { app } = await server.responders({
    administrator: { actor: COMMAND_LINE.by, hasHash: (one) => Promise.resolve(one === hash) },
  });
  const handler = new RuntimeHandler(app);
  return new Connection({
    project,
    retrier: commandRetrier(),
    url: `http://${HOST}`,
    credentials: { kind: "token", secret },
    local: {
      place,
      fetch: (request) => handler.respond(request, LOCAL_CLIENT),
    },
  });
}

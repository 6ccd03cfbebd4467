import { hostProblem } from "../drive/applications.ts";
import { hostName, type ServerNames } from "../drive/hosts.ts";
import { type Environment, variableOf } from "./given_values.ts";
import type { ServeOptions } from "./serve_options.ts";
import { APPS_HOSTS, PUBLIC_URL } from "./value_forms.ts";

/** Domains in which Deno Deploy gives programs their names. */
const DEPLOY_ZONES = ["deno.net", "deno.dev"];

/** The one list of the server's own names: no application can have one of them. */
export function serverNames(
  { publicUrl, appsHosts, hostname }: Pick<ServeOptions, "publicUrl" | "appsHosts" | "hostname">,
  { isOnDeploy = false } = {},
): ServerNames {
  const publicNames = publicUrl === undefined ? [] : [hostName(new URL(publicUrl).host)];
  const listening = hostName(hostname);
  return {
    // The server usually listens on an address, which says nothing of its name.
    own: hostProblem(listening) === undefined ? [...publicNames, listening] : publicNames,
    gate: appsHosts,
    zones: isOnDeploy ? DEPLOY_ZONES : [],
  };
}

/** The same as far as the environment tells, for commands beside the server. */
export function serverNamesIn(env: Environment): ServerNames {
  const text = (name: string) => env[variableOf(name)] ?? "";
  return serverNames({
    publicUrl: PUBLIC_URL.parse(text("public-url")),
    appsHosts: APPS_HOSTS.parse(text("apps-host")) ?? [],
    hostname: text("hostname"),
  });
}

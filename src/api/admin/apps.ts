import { errors } from "../../http/http_error.ts";
import { Fields } from "../../http/json_body.ts";
import { json } from "../../http/json_response.ts";
import { isoSeconds } from "../../rules/dates.ts";
import { hostnameOf, isSubdomain, upstreamProblem } from "../../rules/hosts.ts";
import { appNameProblem } from "../../rules/names.ts";
import type { AppKeyInfo } from "../../store/accounts/app_keys.ts";
import type { AppInfo } from "../../store/accounts/apps.ts";
import type { Deps } from "../router.ts";
import type { ProjectCall } from "./admin_call.ts";

/** What every answer on an application is. */
export interface AppAnswer {
  name: string;
  project_id: string;
  upstream: string | null;
  host: string | null;
  access: { enabled: boolean };
  created: string;
}

export function appAnswer({ app, project, upstream, host, access, created }: AppInfo): AppAnswer {
  return {
    name: app,
    project_id: project,
    upstream: upstream ?? null,
    host: host ?? null,
    access: { enabled: access },
    created: isoSeconds(created),
  };
}

/** What every answer on a key of an application has. */
export interface AppKeyAnswer {
  name: string;
  description: string | null;
  prefix: string;
  created: string;
}

export function appKeyAnswer({ name, description, prefix, created }: AppKeyInfo): AppKeyAnswer {
  return { name, description: description ?? null, prefix, created: isoSeconds(created) };
}

/** `GET …/apps`: the applications of a project, and where the gate to them is. */
export async function listApps({ project }: ProjectCall, { store, gate }: Deps): Promise<Response> {
  const apps = await store.apps.list(project);
  return json(200, { apps: apps.map(appAnswer), gate: gate ?? null });
}

/** `POST …/apps`: makes an application; its access control is off, unless `access` says something else. */
export async function createApp(call: ProjectCall, deps: Deps): Promise<Response> {
  const { store, idleTimeout } = deps;
  const fields = await Fields.read(call, idleTimeout, ["name", "upstream", "host", "access"]);
  const name = fields.text("name", appNameProblem);
  const upstream = upstreamOf(fields, call, deps) ?? undefined;
  // There is no host yet that null could take away.
  const host = hostOf(fields, call, deps) ?? undefined;
  const access = fields.object("access", ["enabled"])?.flag("enabled");
  const isOwnersHost = !call.isAdministrator;
  const app = await store.apps.create(call.project, name, { upstream, host, isOwnersHost, access });
  return json(201, appAnswer(app));
}

/** `GET …/apps/{app}`. */
export async function showApp(call: ProjectCall, { store }: Deps): Promise<Response> {
  const app = await store.apps.get(call.project, appOf(call));
  if (app === undefined) throw errors.appNotFound(appOf(call));
  return json(200, appAnswer(app));
}

/** `PATCH …/apps/{app}`: sets what is named; `null` takes it away. */
export async function changeApp(call: ProjectCall, deps: Deps): Promise<Response> {
  const { store, idleTimeout } = deps;
  const name = appOf(call);
  const fields = await Fields.read(call, idleTimeout, ["upstream", "host"]);
  const upstream = upstreamOf(fields, call, deps);
  const host = hostOf(fields, call, deps);
  const isOwnersHost = !call.isAdministrator;
  if (host === null && isOwnersHost) await requireHostSuffix(call, name, deps);
  const app = await store.apps.update(call.project, name, { upstream, host, isOwnersHost });
  if (app === undefined) throw errors.appNotFound(name);
  return json(200, appAnswer(app));
}

/** `DELETE …/apps/{app}`: with its keys. */
export async function deleteApp(call: ProjectCall, { store }: Deps): Promise<Response> {
  const name = appOf(call);
  if (!await store.apps.delete(call.project, name)) throw errors.appNotFound(name);
  return json(200, { name });
}

/** The application in the path. @throws {HttpError} 404 where it can be the name of none. */
export function appOf({ params }: ProjectCall): string {
  const name = params["app"] ?? "";
  if (appNameProblem(name) !== undefined) throw errors.appNotFound(name);
  return name;
}

/** "The upstream is the administrator's to set, as it says where this server connects to." */
function upstreamOf(
  fields: Fields,
  { isAdministrator }: ProjectCall,
  { upstreamRules }: Deps,
): string | null | undefined {
  const problemOf = (text: string) => upstreamProblem(text) ?? upstreamRules.problemOf(text);
  const upstream = fields.textOrNull("upstream", isAdministrator ? problemOf : upstreamProblem);
  if (upstream !== undefined && !isAdministrator) throw errors.upstreamNotAllowed();
  return upstream;
}

/**
 * The host that a call names, in lower case as host names have no case. Only the administrator sets it; an owner chooses
 * one below the project's suffix.
 */
function hostOf(
  fields: Fields,
  { isAdministrator, info: { hostSuffix }, request: { headers } }: ProjectCall,
  { hosts }: Deps,
): string | null | undefined {
  const host = fields.textOrNull("host", () => undefined)?.toLowerCase();
  if (host === undefined) return fields.has("host") ? null : undefined;
  const isChosen = hostSuffix !== undefined && isSubdomain(host, hostSuffix);
  if (!isAdministrator && !isChosen) throw errors.hostNotAllowed(hostSuffix);
  // By the name by which the administration itself is called the server would be lost to its administrator.
  const called = hostnameOf(headers.get("host") ?? "");
  const problem = host === called ? "is a name of this server itself" : hosts.problemOf(host);
  if (problem !== undefined) throw errors.badField("host", problem);
  return host;
}

/** An owner who may choose no host takes none away either. @throws {HttpError} 403 */
async function requireHostSuffix(
  { project, info }: ProjectCall,
  app: string,
  { store }: Deps,
): Promise<void> {
  if (info.hostSuffix !== undefined) return;
  const present = await store.apps.get(project, app);
  if (present?.host !== undefined) throw errors.hostNotAllowed(undefined);
}

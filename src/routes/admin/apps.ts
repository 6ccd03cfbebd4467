import { appNameProblem, hostProblem, upstreamProblem } from "../../drive/applications.ts";
import type { ProjectCall } from "../../http/admin_call.ts";
import { Fields } from "../../http/fields.ts";
import { errors } from "../../http/http_error.ts";
import { json } from "../../http/json_response.ts";
import type { Deps } from "../../http/router.ts";
import { appAnswer } from "./app_answer.ts";

/** `GET …/apps`: the applications of a project, and where the gate to them is. */
export async function listApps({ project }: ProjectCall, { store, gate }: Deps): Promise<Response> {
  const apps = await store.apps.list(project);
  return json(200, { apps: apps.map(appAnswer), gate: gate ?? null });
}

/** `POST …/apps`: makes an application; its access control is off. */
export async function createApp(
  call: ProjectCall,
  { store, idleTimeout }: Deps,
): Promise<Response> {
  const fields = await Fields.read(call, idleTimeout, ["name", "upstream", "host"]);
  const name = fields.text("name", appNameProblem);
  const upstream = upstreamOf(fields, call) ?? undefined;
  const host = hostOf(fields) ?? undefined;
  const app = await store.apps.create(call.project, name, {
    ...(upstream === undefined ? {} : { upstream }),
    ...(host === undefined ? {} : { host }),
  });
  return json(201, appAnswer(app));
}

/** `GET …/apps/{app}`. */
export async function showApp(call: ProjectCall, { store }: Deps): Promise<Response> {
  const app = await store.apps.get(call.project, appOf(call));
  if (app === undefined) throw errors.noApplication(appOf(call));
  return json(200, appAnswer(app));
}

/** `PATCH …/apps/{app}`: sets what is named; `null` takes it away. */
export async function changeApp(
  call: ProjectCall,
  { store, idleTimeout }: Deps,
): Promise<Response> {
  const name = appOf(call);
  const fields = await Fields.read(call, idleTimeout, ["upstream", "host"]);
  const upstream = upstreamOf(fields, call);
  const host = hostOf(fields);
  const app = await store.apps.update(call.project, name, {
    ...(upstream === undefined ? {} : { upstream }),
    ...(host === undefined ? {} : { host }),
  });
  if (app === undefined) throw errors.noApplication(name);
  return json(200, appAnswer(app));
}

/** `DELETE …/apps/{app}`: with its keys. */
export async function deleteApp(call: ProjectCall, { store }: Deps): Promise<Response> {
  const name = appOf(call);
  if (!await store.apps.remove(call.project, name)) throw errors.noApplication(name);
  return json(200, { name });
}

/** The application in the path. @throws {HttpError} 404 where it can be the name of none. */
export function appOf({ params }: ProjectCall): string {
  const name = params["app"] ?? "";
  if (appNameProblem(name) !== undefined) throw errors.noApplication(name);
  return name;
}

/** "The upstream is the administrator's to set, as it says where this server connects to." */
function upstreamOf(
  fields: Fields,
  { isAdministrator }: ProjectCall,
): string | null | undefined {
  const upstream = fields.textOrNull("upstream", upstreamProblem);
  if (upstream !== undefined && !isAdministrator) throw errors.foreignUpstream();
  return upstream;
}

/** Host names have no case. */
function hostOf(fields: Fields): string | null | undefined {
  const host = fields.textOrNull("host", (text) => hostProblem(text.toLowerCase()));
  return host === null ? null : host?.toLowerCase();
}

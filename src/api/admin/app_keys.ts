import { errors } from "../../http/http_error.ts";
import { Fields } from "../../http/json_body.ts";
import { json } from "../../http/json_response.ts";
import { descriptionProblem, keyNameProblem } from "../../rules/names.ts";
import type { Deps } from "../router.ts";
import type { ProjectCall } from "./admin_call.ts";
import { appKeyAnswer, appOf } from "./apps.ts";

/** `GET …/apps/{app}/keys`: the keys of an application, without their secrets. */
export async function listAppKeys(call: ProjectCall, { store }: Deps): Promise<Response> {
  const app = await store.apps.get(call.project, appOf(call));
  if (app === undefined) throw errors.appNotFound(appOf(call));
  const keys = await store.appKeys.list(call.project, app.app);
  return json(200, { keys: keys.map(appKeyAnswer) });
}

/** `POST …/apps/{app}/keys`: "The `api_key` value is returned only once, at creation." */
export async function createAppKey(
  call: ProjectCall,
  { store, idleTimeout }: Deps,
): Promise<Response> {
  const app = appOf(call);
  const fields = await Fields.read(call, idleTimeout, ["name", "description"]);
  const name = fields.text("name", keyNameProblem);
  const description = fields.optionalText("description", descriptionProblem);
  const made = await store.appKeys.create(call.project, app, {
    name,
    ...(description === undefined ? {} : { description }),
  });
  return json(201, { ...appKeyAnswer(made), api_key: made.text });
}

/** `DELETE …/apps/{app}/keys/{name}`: from now on that key opens nothing. */
export async function revokeAppKey(call: ProjectCall, { store }: Deps): Promise<Response> {
  const app = appOf(call);
  const name = call.params["name"] ?? "";
  const isGone = keyNameProblem(name) === undefined &&
    await store.appKeys.revoke(call.project, app, name);
  if (!isGone) throw errors.appKeyNotFound(name);
  return json(200, { name });
}

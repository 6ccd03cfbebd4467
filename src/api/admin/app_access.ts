import { errors } from "../../http/http_error.ts";
import { Fields } from "../../http/json_body.ts";
import { json } from "../../http/json_response.ts";
import type { Deps } from "../router.ts";
import type { ProjectCall } from "./admin_call.ts";
import { appOf } from "./apps.ts";

/** `GET …/apps/{app}/access`: whether the application is accessible "only to its owner and to holders of a valid key". */
export async function showAccess(call: ProjectCall, { store }: Deps): Promise<Response> {
  const app = await store.apps.get(call.project, appOf(call));
  if (app === undefined) throw errors.appNotFound(appOf(call));
  return json(200, { enabled: app.access });
}

/** `PUT …/apps/{app}/access`: switches the access control on or off. The keys stay. */
export async function switchAccess(
  call: ProjectCall,
  { store, idleTimeout }: Deps,
): Promise<Response> {
  const name = appOf(call);
  const fields = await Fields.read(call, idleTimeout, ["enabled"]);
  const app = await store.apps.update(call.project, name, { access: fields.flag("enabled") });
  if (app === undefined) throw errors.appNotFound(name);
  return json(200, { enabled: app.access });
}

import { errors } from "../../http/http_error.ts";
import { Fields } from "../../http/json_body.ts";
import { json } from "../../http/json_response.ts";
import { TAGS } from "../../openapi/info.ts";
import { jsonBody } from "../../openapi/operation.ts";
import { jsonResponse } from "../../openapi/responses.ts";
import { closed } from "../../openapi/schemas.ts";
import { schema } from "../../openapi/types.ts";
import { jsonFailures, projectEndpoint } from "./admin_call.ts";
import { appNameOf, NO_APP, requireApp } from "./apps.ts";

/** `GET …/apps/{app}/access`: whether the application is accessible "only to its owner and to holders of a valid key". */
export const showAccess = projectEndpoint({
  id: "showAccess",
  tag: TAGS.applications,
  summary: "Show the access control",
  success: { 200: jsonResponse("Whether it is on.", "Access") },
  failures: { NotFound: NO_APP },
  schemas: {
    Access: closed({
      enabled: {
        type: "boolean",
        description: "Whether only the owner and holders of a key have access.",
      },
    }),
  },
}, async (call, deps) => json(200, { enabled: (await requireApp(call, deps)).access }));

/** `PUT …/apps/{app}/access`: switches the access control on or off. The keys are kept. */
export const switchAccess = projectEndpoint({
  id: "switchAccess",
  tag: TAGS.applications,
  summary: "Switch the access control",
  description: "While it is off, every caller has access. The keys are kept.",
  body: jsonBody("On or off.", schema("Access"), { example: { enabled: true } }),
  success: { 200: jsonResponse("The new state.", "Access") },
  failures: { ...jsonFailures, NotFound: NO_APP },
}, async (call, { store, idleTimeout }) => {
  const name = appNameOf(call);
  const fields = await Fields.read(call, idleTimeout, ["enabled"]);
  const app = await store.apps.update(call.project, name, { access: fields.flag("enabled") });
  if (app === undefined) throw errors.appNotFound(name);
  return json(200, { enabled: app.access });
});

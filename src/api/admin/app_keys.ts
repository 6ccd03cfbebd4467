import { errors } from "../../http/http_error.ts";
import { Fields } from "../../http/json_body.ts";
import { json } from "../../http/responses/json_response.ts";
import { jsonBody, jsonResponse } from "../../openapi/messages.ts";
import { closed, listOf, orNull, schema } from "../../openapi/schemas.ts";
import { descriptionProblem, keyNameProblem } from "../../rules/names.ts";
import { APP_KEY_PREFIX_LENGTH } from "../../rules/secrets.ts";
import { changeFailures, jsonFailures, projectEndpoint } from "./admin_call.ts";
import { appNameOf, NO_APP, requireApp } from "./apps.ts";
import { appKeyJson } from "./json.ts";

const keyFields = {
  name: schema("Label"),
  description: orNull(schema("Description")),
  prefix: schema("AppKeyPrefix"),
  created: schema("Second"),
};

/** `GET …/apps/{app}/keys`: the keys of an application, without their secrets. */
export const listAppKeys = projectEndpoint({
  id: "listAppKeys",
  tag: "Applications",
  summary: "List keys of an application",
  success: { 200: jsonResponse("All keys, without their secrets.", "AppKeyList") },
  failures: { NotFound: NO_APP },
  schemas: { AppKeyList: closed({ keys: listOf(closed(keyFields)) }) },
}, async (call, deps) => {
  const { app } = await requireApp(call, deps);
  const keys = await deps.store.appKeys.list(call.project, app);
  return json(200, { keys: keys.map(appKeyJson) });
});

/** `POST …/apps/{app}/keys`: "The `api_key` value is returned only once, at creation." */
export const createAppKey = projectEndpoint({
  id: "createAppKey",
  tag: "Applications",
  summary: "Create a key of an application",
  description:
    "The key is returned only in this response. It does not expire, so a project key that does cannot create one.",
  body: jsonBody("Its name and its purpose.", schema("CreateAppKeyRequest"), {
    example: { name: "ci", description: "nightly run" },
  }),
  success: {
    201: jsonResponse("The key.", "NewAppKey", {
      example: {
        name: "ci",
        description: "nightly run",
        prefix: "9fKq2LmX",
        created: "2021-04-22T11:50:08Z",
        api_key: "9fKq2LmX.s7Wd9Zp2Lm4Nr8Tv1Yc5Eg6Hb3Jk0Qx8",
      },
    }),
  },
  failures: {
    ...jsonFailures,
    Forbidden: "The key is of another project or does not administer this one, or it expires.",
    NotFound: NO_APP,
    Conflict: "Access control is off, or the name is taken.",
  },
  schemas: {
    CreateAppKeyRequest: closed({
      name: schema("Label"),
      description: orNull(schema("Description")),
    }, { optional: ["description"] }),
    NewAppKey: closed({
      ...keyFields,
      api_key: {
        type: "string",
        description: "The key, `<prefix>.<secret>`. It is returned only once, in this response.",
        pattern: `^[A-Za-z0-9]{${APP_KEY_PREFIX_LENGTH}}\\.[A-Za-z0-9]+$`,
      },
    }),
  },
}, async (call, deps) => {
  const { store } = deps;
  call.rights.requireToOutlive("a key of an application", undefined);
  const app = appNameOf(call);
  const fields = await Fields.read(call, deps, ["name", "description"]);
  const name = fields.text("name", keyNameProblem);
  const description = fields.optionalText("description", descriptionProblem);
  const made = await store.appKeys.create(call.project, app, {
    name,
    ...(description === undefined ? {} : { description }),
  }, call.actor);
  return json(201, { ...appKeyJson(made), api_key: made.text });
});

/** `DELETE …/apps/{app}/keys/{name}`: revokes a key. */
export const revokeAppKey = projectEndpoint({
  id: "revokeAppKey",
  tag: "Applications",
  summary: "Revoke a key of an application",
  description:
    "The key is invalid once this is answered; in other server processes within 5 seconds.",
  success: { 200: jsonResponse("The key was revoked.", "AppKeyNamed") },
  failures: {
    ...changeFailures,
    NotFound: "The key, the application or the project does not exist.",
  },
  schemas: { AppKeyNamed: closed({ name: schema("Label") }) },
}, async (call, deps) => {
  const { app } = await requireApp(call, deps);
  const name = call.params["name"] ?? "";
  const isRevoked = keyNameProblem(name) === undefined &&
    await deps.store.appKeys.revoke(call.project, app, name, call.actor);
  if (!isRevoked) throw errors.appKeyNotFound(name);
  return json(200, { name });
});

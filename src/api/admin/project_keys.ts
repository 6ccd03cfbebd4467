import { errors } from "../../http/http_error.ts";
import { Fields } from "../../http/json_body.ts";
import { json } from "../../http/json_response.ts";
import { TAGS } from "../../openapi/info.ts";
import { jsonBody } from "../../openapi/operation.ts";
import { jsonResponse } from "../../openapi/responses.ts";
import { closed, listOf, orNull } from "../../openapi/schemas.ts";
import { schema } from "../../openapi/types.ts";
import { isoSeconds } from "../../rules/dates.ts";
import { keyNameProblem } from "../../rules/names.ts";
import { KEY_PREFIX_LENGTH } from "../../rules/secrets.ts";
import { NoSuchProject } from "../../store/engine/errors.ts";
import { changeFailures, jsonFailures, projectEndpoint } from "./admin_call.ts";

const keyFields = {
  prefix: schema("KeyPrefix"),
  name: orNull(schema("Label")),
  created: schema("Second"),
};

/** `GET …/keys`: the keys of a project, by their prefix. */
export const listProjectKeys = projectEndpoint({
  id: "listProjectKeys",
  tag: TAGS.projects,
  summary: "List project keys",
  description: "Lists the keys of a project by their prefixes.",
  success: { 200: jsonResponse("All keys, without their secrets.", "ProjectKeyList") },
  schemas: { ProjectKeyList: closed({ keys: listOf(closed(keyFields)) }) },
}, async ({ project }, { store }) => {
  const keys = await store.keys.list(project);
  return json(200, {
    keys: keys.map(({ prefix, name, created }) => ({
      prefix,
      name: name ?? null,
      created: isoSeconds(created),
    })),
  });
});

/** `POST …/keys`: creates another key of the project, which is returned only once. */
export const createProjectKey = projectEndpoint({
  id: "createProjectKey",
  tag: TAGS.projects,
  summary: "Create a project key",
  description: "Creates another key of the project, which is returned only in this response.",
  body: jsonBody("A name for the list of keys.", schema("CreateProjectKeyRequest"), {
    required: false,
    example: { name: "backup" },
  }),
  success: { 201: jsonResponse("The key.", "NewProjectKey") },
  failures: jsonFailures,
  schemas: {
    CreateProjectKeyRequest: closed({ name: orNull(schema("Label")) }, { optional: ["name"] }),
    NewProjectKey: closed({ ...keyFields, project_key: schema("ProjectSecret") }),
  },
}, async (call, { store, idleTimeout }) => {
  const fields = await Fields.read(call, idleTimeout, ["name"]);
  const keyName = fields.optionalText("name", keyNameProblem);
  const made = await store.keys.create(call.project, keyName, call.actor);
  if (made === undefined) throw new NoSuchProject(call.project);
  const { key, prefix, name, created } = made;
  return json(201, {
    name: name ?? null,
    prefix,
    project_key: key.text,
    created: isoSeconds(created),
  });
});

/** `DELETE …/keys/{prefix}`: revokes a key. */
export const revokeProjectKey = projectEndpoint({
  id: "revokeProjectKey",
  tag: TAGS.projects,
  summary: "Revoke a project key",
  description:
    "The key is invalid once this is answered; in other server processes within 5 seconds.",
  success: { 200: jsonResponse("The key was revoked.", "KeyNamed") },
  failures: { ...changeFailures, NotFound: "The key or the project does not exist." },
  schemas: { KeyNamed: closed({ prefix: schema("KeyPrefix") }) },
}, async ({ project, params, actor }, { store }) => {
  const prefix = params["prefix"] ?? "";
  const isRevoked = prefix.length === KEY_PREFIX_LENGTH &&
    await store.keys.revoke(project, prefix, actor);
  if (!isRevoked) throw errors.projectKeyNotFound(prefix);
  return json(200, { prefix });
});

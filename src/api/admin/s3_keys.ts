import { errors } from "../../http/http_error.ts";
import { json } from "../../http/responses/json_response.ts";
import { jsonBody, jsonResponse } from "../../openapi/messages.ts";
import { closed, listOf, orNull, schema } from "../../openapi/schemas.ts";
import type { Schema } from "../../openapi/types.ts";
import { NoSuchProject } from "../../store/engine/errors.ts";
import { changeFailures, jsonFailures, projectEndpoint } from "./admin_call.ts";
import { s3KeyJson } from "./json.ts";
import { keyLimitFields, listedKeyFields, newKeyLimitFields, newKeyOf } from "./project_keys.ts";

const { name_prefix: prefix, ...limitFields } = keyLimitFields;
const { name_prefix: newPrefix, ...newLimitFields } = newKeyLimitFields;

const keyFields = {
  ...limitFields,
  prefix,
  access_key_id: schema("AccessKeyId"),
  ...listedKeyFields,
  usable: {
    type: "boolean",
    description:
      "Whether the server can decrypt the key's secret. If not, every request with it is refused.",
  },
} satisfies Record<string, Schema>;

/** `GET …/s3-keys`: the S3 keys of a project, without their secrets. */
export const listS3Keys = projectEndpoint({
  id: "listS3Keys",
  tag: "Projects",
  summary: "List S3 keys",
  description:
    "Lists the S3 keys of a project. A key that is limited to some drives or names sees only S3 keys within its " +
    "limits.",
  success: { 200: jsonResponse("All S3 keys, without their secrets.", "S3KeyList") },
  schemas: { S3KeyList: closed({ s3_keys: listOf(closed(keyFields)) }) },
}, async ({ project, rights }, { store }) => {
  const all = await store.s3Keys.list(project);
  const keys = all.filter((key) => rights.coversScope(key.rights));
  return json(200, { s3_keys: keys.map(s3KeyJson) });
});

const CREATABLE = ["name", "permissions", "drives", "prefix", "expires_in"];

/** `POST …/s3-keys`: creates an S3 key of the project, whose secret is returned only once. */
export const createS3Key = projectEndpoint({
  id: "createS3Key",
  tag: "Projects",
  summary: "Create an S3 key",
  description:
    "Creates an S3 key of the project. Its secret is returned only in this response. A key cannot create one with " +
    "more rights than its own: more permissions, drives or names, or a longer life.",
  body: jsonBody(
    "The limits of the S3 key, and a name for the list.",
    schema("CreateS3KeyRequest"),
    { required: false, example: { name: "backup", drives: ["photos"] } },
  ),
  success: { 201: jsonResponse("The S3 key.", "NewS3Key") },
  failures: {
    ...jsonFailures,
    Forbidden:
      "The key is of another project, or lacks the permission `admin`, or has fewer rights than the new key would have.",
    Conflict:
      "The server has no secret to encrypt S3 keys with: the error says what its operator must do.",
  },
  schemas: {
    CreateS3KeyRequest: closed({
      name: orNull(schema("Label")),
      ...newLimitFields,
      prefix: newPrefix,
    }, {
      optional: CREATABLE,
      description: "Without `permissions` the key has all. A field with `null` counts as absent.",
    }),
    NewS3Key: closed({
      ...keyFields,
      secret_access_key: {
        type: "string",
        pattern: "^[A-Za-z0-9]{40}$",
        examples: ["5uWmPz8n0QyF3xJbVhT6eRkC1dLaGsNo2iYvE7qM"],
      },
    }),
  },
}, async (call, deps) => {
  const { store } = deps;
  const { project } = call;
  const wanted = await newKeyOf(call, deps, CREATABLE, "prefix");
  const made = await store.s3Keys.create(project, wanted);
  if (made === undefined) throw new NoSuchProject(project);
  return json(201, { ...s3KeyJson(made), secret_access_key: made.secret });
});

/** `DELETE …/s3-keys/{access_key_id}`: revokes an S3 key. */
export const revokeS3Key = projectEndpoint({
  id: "revokeS3Key",
  tag: "Projects",
  summary: "Revoke an S3 key",
  description:
    "The key is invalid once this is answered; in other server processes within 5 seconds. For a key that is limited " +
    "to some drives or names, S3 keys beyond its limits do not exist. A key revokes only keys whose permissions it has.",
  success: { 200: jsonResponse("The S3 key was revoked.", "S3KeyNamed") },
  failures: {
    ...changeFailures,
    Forbidden:
      "The key is of another project, or lacks the permission `admin`, or a permission of the key that is revoked.",
    NotFound: "The S3 key or the project does not exist.",
  },
  schemas: { S3KeyNamed: closed({ access_key_id: schema("AccessKeyId") }) },
}, async ({ project, params, rights, actor }, { store }) => {
  const id = params["accessKey"] ?? "";
  if (!await store.s3Keys.revoke(project, id, { within: rights, actor })) {
    throw errors.s3KeyNotFound(id);
  }
  return json(200, { access_key_id: id });
});

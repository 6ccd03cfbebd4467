import { errors } from "../../http/http_error.ts";
import { Fields } from "../../http/json_body.ts";
import { json } from "../../http/responses/json_response.ts";
import { jsonBody, jsonResponse } from "../../openapi/messages.ts";
import { closed, listOf, orNull, schema } from "../../openapi/schemas.ts";
import type { Schema } from "../../openapi/types.ts";
import {
  driveNameProblem,
  keyNameProblem,
  MAX_FILE_NAME,
  namePrefixProblem,
} from "../../rules/names.ts";
import {
  type KeyLimits,
  MAX_KEY_DRIVES,
  type Permission,
  PERMISSIONS,
  Rights,
} from "../../rules/rights.ts";
import { MAX_EXPIRES_IN, SECOND } from "../../rules/units.ts";
import { KEY_PREFIX_LENGTH } from "../../rules/secrets.ts";
import { NoSuchProject } from "../../store/engine/errors.ts";
import type { NewKey } from "../../store/accounts/key_entries.ts";
import type { Deps } from "../endpoint.ts";
import {
  changeFailures,
  jsonFailures,
  NO_PROJECT,
  type ProjectCall,
  projectEndpoint,
} from "./admin_call.ts";
import { projectKeyJson, s3KeyJson, scopeJson, timeJson } from "./json.ts";

const permissions = listOf({ type: "string", enum: PERMISSIONS }, {
  minItems: 1,
  description: "What the key may do.",
  examples: [["read", "list"]],
});
const drives = listOf(schema("DriveName"), {
  minItems: 1,
  maxItems: MAX_KEY_DRIVES,
  description: "The drives that the key is for; `null` for all.",
});
const namePrefix: Schema = {
  type: "string",
  minLength: 1,
  maxLength: MAX_FILE_NAME,
  description: "The key is only for names that begin with this text; `null` for all.",
  examples: ["inbox/"],
};

/** The schemas of what limits a key. */
export const keyLimitFields = {
  permissions: { ...permissions, uniqueItems: true },
  drives: orNull({ ...drives, uniqueItems: true }),
  name_prefix: orNull(namePrefix),
  expires: orNull(schema("Second")),
};

/** The schemas of the fields of a request that limit a key, which may be absent. */
export const newKeyLimitFields = {
  permissions: orNull(permissions),
  drives: orNull(drives),
  name_prefix: orNull(namePrefix),
  expires_in: orNull({
    type: "integer",
    minimum: 1,
    maximum: MAX_EXPIRES_IN,
    description: "The life of the key in seconds; without it the key does not expire.",
  }),
} as const;

/** The schemas of the fields that tell keys apart in lists. */
export const listedKeyFields = {
  name: orNull(schema("Label")),
  created: schema("Second"),
  last_used: {
    ...orNull(schema("Second")),
    description: "The hour in which the key was last used; `null` before the first use.",
  },
};

const keyFields = { ...keyLimitFields, prefix: schema("KeyPrefix"), ...listedKeyFields };

/** `GET …/keys`: the keys of a project, by their prefix. */
export const listProjectKeys = projectEndpoint({
  id: "listProjectKeys",
  tag: "Projects",
  summary: "List project keys",
  description:
    "Lists the keys of a project by their prefixes. A key that is limited to some drives or names sees only " +
    "keys within its limits.",
  success: { 200: jsonResponse("All keys, without their secrets.", "ProjectKeyList") },
  schemas: { ProjectKeyList: closed({ keys: listOf(closed(keyFields)) }) },
}, async ({ project, rights }, { store }) => {
  const all = await store.keys.list(project);
  const keys = all.filter((key) => rights.coversScope(key.rights));
  return json(200, { keys: keys.map(projectKeyJson) });
});

const CREATABLE = ["name", "permissions", "drives", "name_prefix", "expires_in"];

/** `POST …/keys`: creates another key of the project, which is returned only once. */
export const createProjectKey = projectEndpoint({
  id: "createProjectKey",
  tag: "Projects",
  summary: "Create a project key",
  description:
    "Creates another key of the project, which is returned only in this response. A key cannot create one with more " +
    "rights than its own: more permissions, drives or names, or a longer life.",
  body: jsonBody(
    "The limits of the key, and a name for the list.",
    schema("CreateProjectKeyRequest"),
    {
      required: false,
      example: {
        name: "scanner",
        permissions: ["write"],
        drives: ["photos"],
        name_prefix: "inbox/",
      },
    },
  ),
  success: { 201: jsonResponse("The key.", "NewProjectKey") },
  failures: {
    ...jsonFailures,
    Forbidden:
      "The key is of another project, or lacks the permission `admin`, or has fewer rights than the new key would have.",
  },
  schemas: {
    CreateProjectKeyRequest: closed({
      name: orNull(schema("Label")),
      ...newKeyLimitFields,
    }, {
      optional: CREATABLE,
      description: "Without `permissions` the key has all. A field with `null` counts as absent.",
    }),
    NewProjectKey: closed({ ...keyFields, project_key: schema("ProjectSecret") }),
  },
}, async (call, deps) => {
  const { store } = deps;
  const { project } = call;
  const made = await store.keys.create(
    project,
    await newKeyOf(call, deps, CREATABLE, "name_prefix"),
  );
  if (made === undefined) throw new NoSuchProject(project);
  return json(201, { ...projectKeyJson(made), project_key: made.key.text });
});

/**
 * Reads what a new key is to be.
 *
 * @param known The names of the allowed fields.
 * @param prefixField The field with the beginning of names.
 * @throws {HttpError} 400
 * @throws {RightMissing} if it would have more rights than the sender.
 */
export async function newKeyOf(
  call: ProjectCall,
  deps: Deps,
  known: readonly string[],
  prefixField: string,
): Promise<NewKey> {
  const { rights, isAdministrator, actor, credential } = call;
  const fields = await Fields.read(call, deps, known);
  const name = fields.optionalText("name", keyNameProblem);
  const created = Date.now();
  const limits = limitsOf(fields, created, prefixField);
  rights.requireToCreate(new Rights(limits), prefixField);
  return { name, created, limits, by: isAdministrator ? undefined : credential, actor };
}

function limitsOf(fields: Fields, now: number, prefixField: string): KeyLimits {
  const isPermission = (text: string): text is Permission =>
    PERMISSIONS.some((one) => one === text);
  const permissions = fields.optionalTexts(
    "permissions",
    PERMISSIONS.length,
    (text) =>
      isPermission(text) ? undefined : `is not a permission: choose from ${PERMISSIONS.join(", ")}`,
  );
  const drives = fields.optionalTexts("drives", MAX_KEY_DRIVES, driveNameProblem);
  const namePrefix = fields.optionalText(prefixField, namePrefixProblem);
  const life = fields.isNull("expires_in")
    ? undefined
    : fields.wholeNumber("expires_in", 1, MAX_EXPIRES_IN);
  return {
    ...(permissions === undefined
      ? {}
      : { permissions: PERMISSIONS.filter((one) => permissions.includes(one)) }),
    ...(drives === undefined ? {} : { drives }),
    ...(namePrefix === undefined ? {} : { namePrefix }),
    ...(life === undefined ? {} : { expires: now + life * SECOND }),
  };
}

/** `DELETE …/keys/{prefix}`: revokes a key. */
export const revokeProjectKey = projectEndpoint({
  id: "revokeProjectKey",
  tag: "Projects",
  summary: "Revoke a project key",
  description:
    "The key is invalid once this is answered; in other server processes within 5 seconds. For a key that is limited " +
    "to some drives or names, keys beyond its limits do not exist. A key revokes only keys whose permissions it has.",
  success: { 200: jsonResponse("The key was revoked.", "KeyNamed") },
  failures: {
    ...changeFailures,
    Forbidden:
      "The key is of another project, or lacks the permission `admin`, or a permission of the key that is revoked.",
    NotFound: "The key or the project does not exist.",
  },
  schemas: { KeyNamed: closed({ prefix: schema("KeyPrefix") }) },
}, async ({ project, params, rights, actor }, { store }) => {
  const prefix = params["prefix"] ?? "";
  const isRevoked = prefix.length === KEY_PREFIX_LENGTH &&
    await store.keys.revoke(project, prefix, { within: rights, actor });
  if (!isRevoked) throw errors.projectKeyNotFound(prefix);
  return json(200, { prefix });
});

/** `GET /admin/v1/projects/{id}/key`: what the key of the request may do. */
export const showOwnKey = projectEndpoint({
  id: "showOwnKey",
  tag: "Projects",
  summary: "Show the key of the request",
  description:
    "Returns what the key of the request may do in the project. Every key of it may ask.",
  success: { 200: jsonResponse("What the key may do.", "OwnKey") },
  failures: { NotFound: NO_PROJECT },
  schemas: {
    OwnKey: closed({
      administrator: { type: "boolean", description: "Whether it is the administrator's token." },
      project_id: schema("ProjectId"),
      prefix: orNull(schema("KeyPrefix")),
      ...keyLimitFields,
    }, { description: "The administrator's token has no `prefix`." }),
  },
}, ({ project, isAdministrator, rights, actor }) => {
  return Promise.resolve(json(200, {
    administrator: isAdministrator,
    project_id: project,
    prefix: isAdministrator ? null : actor.by,
    ...scopeJson(rights),
    expires: timeJson(rights.expires),
  }));
});

const { name_prefix: prefix, ...limitFields } = keyLimitFields;
const { name_prefix: newPrefix, ...newLimitFields } = newKeyLimitFields;

const s3KeyFields = {
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
  schemas: { S3KeyList: closed({ s3_keys: listOf(closed(s3KeyFields)) }) },
}, async ({ project, rights }, { store }) => {
  const all = await store.s3Keys.list(project);
  const keys = all.filter((key) => rights.coversScope(key.rights));
  return json(200, { s3_keys: keys.map(s3KeyJson) });
});

const S3_CREATABLE = ["name", "permissions", "drives", "prefix", "expires_in"];

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
      optional: S3_CREATABLE,
      description: "Without `permissions` the key has all. A field with `null` counts as absent.",
    }),
    NewS3Key: closed({
      ...s3KeyFields,
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
  const wanted = await newKeyOf(call, deps, S3_CREATABLE, "prefix");
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

import { json } from "../../http/responses/json_response.ts";
import { jsonResponse } from "../../openapi/messages.ts";
import { closed, orNull, schema } from "../../openapi/schemas.ts";
import { isoSeconds } from "../../rules/dates.ts";
import { NO_PROJECT, projectEndpoint } from "./admin_call.ts";
import { keyLimitFields } from "./project_keys.ts";

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
  const { permissions, drives, namePrefix, expires } = rights;
  return Promise.resolve(json(200, {
    administrator: isAdministrator,
    project_id: project,
    prefix: isAdministrator ? null : actor.by,
    permissions,
    drives: drives ?? null,
    name_prefix: namePrefix === "" ? null : namePrefix,
    expires: expires === undefined ? null : isoSeconds(expires),
  }));
});

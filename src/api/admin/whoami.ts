import { authenticateCaller } from "../../http/authentication.ts";
import { json } from "../../http/json_response.ts";
import { forOwner, TAGS } from "../../openapi/info.ts";
import { jsonResponse } from "../../openapi/responses.ts";
import { closed, orNull } from "../../openapi/schemas.ts";
import { schema } from "../../openapi/types.ts";
import { isoSeconds } from "../../rules/dates.ts";
import type { Endpoint } from "../endpoint.ts";
import { authenticationFailures } from "./admin_call.ts";
import { keyLimitFields } from "./project_keys.ts";

/** `GET /admin/v1/whoami`: what the credentials of the request are, and what they allow. */
export const whoami: Endpoint = {
  operation: {
    id: "whoami",
    tag: TAGS.projects,
    summary: "Show the credentials",
    description:
      "Returns whether the request carries the administrator's token or a project key, and what that allows. " +
      "Every key may ask.",
    success: { 200: jsonResponse("What the credentials are.", "Identity") },
    schemas: {
      Identity: closed({
        administrator: { type: "boolean", description: "Whether it is the administrator's token." },
        project_id: orNull(schema("ProjectId")),
        prefix: orNull(schema("KeyPrefix")),
        ...keyLimitFields,
      }, { description: "`project_id` and `prefix` are those of a key; `null` for the token." }),
    },
  },
  access: { security: forOwner, noStore: true, failures: authenticationFailures },
  async handle({ request, address, context }, { store, wrongKeys }) {
    const auth = { keys: store.keys, wrongKeys, address, context };
    const caller = await authenticateCaller(request.headers, store.adminToken, auth);
    const { permissions, drives, namePrefix, expires } = caller.rights;
    return json(200, {
      administrator: caller.isAdministrator,
      project_id: caller.isAdministrator ? null : caller.project,
      prefix: caller.isAdministrator ? null : context.key ?? null,
      permissions,
      drives: drives ?? null,
      name_prefix: namePrefix === "" ? null : namePrefix,
      expires: expires === undefined ? null : isoSeconds(expires),
    });
  },
};

import { errors } from "../../http/http_error.ts";
import { Fields } from "../../http/json_body.ts";
import { json } from "../../http/json_response.ts";
import { isoSeconds } from "../../rules/dates.ts";
import { keyNameProblem } from "../../rules/names.ts";
import { KEY_PREFIX_LENGTH } from "../../rules/secrets.ts";
import { NoSuchProject } from "../../store/engine/errors.ts";
import type { Deps } from "../router.ts";
import type { ProjectCall } from "./admin_call.ts";

/** `GET …/keys`: the keys of a project, by their prefix. */
export async function listProjectKeys(
  { project }: ProjectCall,
  { store }: Deps,
): Promise<Response> {
  const keys = await store.keys.list(project);
  return json(200, {
    keys: keys.map(({ prefix, name, created }) => ({
      prefix,
      name: name ?? null,
      created: isoSeconds(created),
    })),
  });
}

/** `POST …/keys`: another key of the project, which is told in this answer only. */
export async function createProjectKey(
  call: ProjectCall,
  { store, idleTimeout }: Deps,
): Promise<Response> {
  const fields = await Fields.read(call, idleTimeout, ["name"]);
  const wanted = fields.optionalText("name", keyNameProblem);
  const made = await store.keys.create(call.project, wanted);
  if (made === undefined) throw new NoSuchProject(call.project);
  const { key, prefix, name, created } = made;
  return json(201, {
    name: name ?? null,
    prefix,
    project_key: key.text,
    created: isoSeconds(created),
  });
}

/** `DELETE …/keys/{prefix}`: from now on that key opens nothing. */
export async function revokeProjectKey(
  { project, params }: ProjectCall,
  { store }: Deps,
): Promise<Response> {
  const prefix = params["prefix"] ?? "";
  const isGone = prefix.length === KEY_PREFIX_LENGTH && await store.keys.revoke(project, prefix);
  if (!isGone) throw errors.projectKeyNotFound(prefix);
  return json(200, { prefix });
}

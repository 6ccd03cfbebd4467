import { keyNameProblem } from "../../drive/applications.ts";
import { isoSeconds } from "../../drive/iso_time.ts";
import { KEY_PREFIX } from "../../drive/limits.ts";
import type { ProjectCall } from "../../http/admin_call.ts";
import { Fields } from "../../http/fields.ts";
import { errors } from "../../http/http_error.ts";
import { json } from "../../http/json_response.ts";
import type { Deps } from "../../http/router.ts";
import { NoSuchProject } from "../../store/errors.ts";

/** `GET …/keys`: the keys of a project, by their prefix. */
export async function listProjectKeys(
  { project }: ProjectCall,
  { store }: Deps,
): Promise<Response> {
  const keys = await store.keys.listKeys(project);
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
  const made = await store.keys.createKey(call.project, wanted);
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
  const isGone = prefix.length === KEY_PREFIX && await store.keys.revokeKey(project, prefix);
  if (!isGone) throw errors.noProjectKey(prefix);
  return json(200, { prefix });
}

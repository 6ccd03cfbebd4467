import { Fields } from "../../http/json_body.ts";
import { json } from "../../http/json_response.ts";
import { isProjectId, keyNameProblem } from "../../rules/names.ts";
import { keyPrefix } from "../../rules/secrets.ts";
import type { Deps } from "../router.ts";
import type { AdminCall } from "./admin_call.ts";
import { backupsAnswer, diskAnswer, integrityAnswer, projectAnswer, sumOf } from "./project.ts";

/** `GET /admin/v1/projects`: every project and what it holds. */
export async function listProjects(
  _call: AdminCall,
  { store, volume, backups }: Deps,
): Promise<Response> {
  const integrity = integrityAnswer(await store.integrity());
  const projects = [];
  for (const info of await store.projects.list()) {
    projects.push({ ...projectAnswer(info), ...sumOf(await store.drives(info.project)) });
  }
  const disk = diskAnswer(await volume());
  const optional = backups === undefined ? {} : { backups: backupsAnswer(backups()) };
  return json(200, { projects, disk, integrity, ...optional });
}

/** `POST /admin/v1/projects`: makes a project and its first key, which is told in this answer only. */
export async function createProject(
  call: AdminCall,
  { store, idleTimeout }: Deps,
): Promise<Response> {
  const fields = await Fields.read(call, idleTimeout, ["name", "project_id", "max_bytes"]);
  const name = fields.optionalText("name", keyNameProblem);
  const id = fields.optionalText("project_id", projectIdProblem);
  const maxBytes = fields.sizeOrNull("max_bytes") ?? undefined;
  const { info, key } = await store.projects.create(id, name, maxBytes);
  return json(201, { ...projectAnswer(info), project_key: key.text, prefix: keyPrefix(key) });
}

function projectIdProblem(id: string): string | undefined {
  return isProjectId(id) ? undefined : "must be 1 to 64 of A-Z a-z 0-9 -";
}

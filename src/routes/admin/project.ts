import { driveNameProblem, isProjectId } from "../../drive/names.ts";
import type { AdminCall, ProjectCall } from "../../http/admin_call.ts";
import { errors } from "../../http/http_error.ts";
import { json } from "../../http/json_response.ts";
import type { Deps } from "../../http/router.ts";
import { diskAnswer, projectAnswer, sumOf } from "./project_answer.ts";

/** `GET /admin/v1/projects/{id}`: a project, its drives and what they hold. */
export async function showProject(
  { project, info }: ProjectCall,
  { store, volume }: Deps,
): Promise<Response> {
  const drives = await store.drives(project);
  return json(200, {
    ...projectAnswer(info),
    ...sumOf(drives),
    drives: drives.map(({ name, files, bytes }) => ({ drive_name: name, files, bytes })),
    disk: diskAnswer(await volume()),
  });
}

/** `DELETE /admin/v1/projects/{id}`: from now on it is gone for every caller; its bytes are removed in the background. */
export async function deleteProject({ params }: AdminCall, { store }: Deps): Promise<Response> {
  const project = params["project"] ?? "";
  const isGone = isProjectId(project) && await store.projects.remove(project);
  if (!isGone) throw errors.noProject(project);
  return json(202, { project_id: project });
}

/** `DELETE /admin/v1/projects/{id}/drives/{drive}`: the same for one drive. */
export async function deleteDrive(
  { project, params }: ProjectCall,
  { store }: Deps,
): Promise<Response> {
  const drive = params["drive"] ?? "";
  const problem = driveNameProblem(drive);
  if (problem !== undefined) throw errors.badDriveName(problem);
  const isGone = await store.projects.removeDrive(project, drive);
  if (!isGone) throw errors.noDrive(drive);
  return json(202, { project_id: project, drive_name: drive });
}

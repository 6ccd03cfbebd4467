import { MAX_HOST } from "../../drive/limits.ts";
import { driveNameProblem, isProjectId } from "../../drive/names.ts";
import type { AdminCall, ProjectCall } from "../../http/admin_call.ts";
import { Fields } from "../../http/fields.ts";
import { errors } from "../../http/http_error.ts";
import { json } from "../../http/json_response.ts";
import type { Deps } from "../../http/router.ts";
import type { ProjectInfo } from "../../store/project_store.ts";
import { diskAnswer, driveAnswer, projectAnswer, sumOf } from "./project_answer.ts";

/** `GET /admin/v1/projects/{id}`: a project, its drives and what they hold. */
export async function showProject(call: ProjectCall, deps: Deps): Promise<Response> {
  return await detailsOf(call.info, call, deps);
}

const CHANGEABLE = ["max_bytes", "host_suffix"];

/**
 * `PATCH /admin/v1/projects/{id}`: limits how many bytes its files may have together, and allows its owner host names below
 * a suffix; `null` takes the limit or the suffix away.
 */
export async function changeProject(call: AdminCall, deps: Deps): Promise<Response> {
  const project = call.params["project"] ?? "";
  const { projects } = deps.store;
  const asked = isProjectId(project) ? await projects.get(project) : undefined;
  if (asked === undefined) throw errors.noProject(project);
  const fields = await Fields.read(call, deps.idleTimeout, CHANGEABLE);
  const maxBytes = fields.sizeOrNull("max_bytes");
  const suffix = fields.textOrNull("host_suffix", (text) => suffixProblem(text, deps));
  if (maxBytes === undefined && suffix === undefined) throw errors.nothingToChange(CHANGEABLE);
  const hostSuffix = suffix === null ? null : suffix?.toLowerCase();
  const info = await projects.change(project, { maxBytes, hostSuffix });
  if (info === undefined) throw errors.noProject(project);
  return await detailsOf(info, call, deps);
}

/** A suffix is as long as leaves room for a label before it. */
function suffixProblem(text: string, { hosts }: Deps): string | undefined {
  if (text.length <= MAX_HOST - 2) return hosts.problemOf(text.toLowerCase());
  return `is too long: at most ${MAX_HOST - 2} characters`;
}

/** The disk is all projects' together, so what of it is free is for the administrator alone. */
async function detailsOf(
  info: ProjectInfo,
  { isAdministrator }: AdminCall,
  { store, volume }: Deps,
): Promise<Response> {
  const drives = await store.drives(info.project);
  return json(200, {
    ...projectAnswer(info),
    ...sumOf(drives),
    drives: drives.map(driveAnswer),
    ...(isAdministrator ? { disk: diskAnswer(await volume()) } : {}),
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

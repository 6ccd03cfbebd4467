import { errors } from "../../http/http_error.ts";
import { Fields } from "../../http/json_body.ts";
import { json } from "../../http/json_response.ts";
import { isoSeconds } from "../../rules/dates.ts";
import { MAX_HOST } from "../../rules/hosts.ts";
import { driveNameProblem, isProjectId } from "../../rules/names.ts";
import type { ProjectInfo } from "../../store/accounts/projects.ts";
import type { BackupStatus } from "../../store/backup/backup_health.ts";
import type { Volume } from "../../store/disk/volume.ts";
import type { DriveUsage } from "../../store/quotas/usage.ts";
import type { Integrity } from "../../store/store.ts";
import type { Deps } from "../router.ts";
import type { AdminCall, ProjectCall } from "./admin_call.ts";

/** What every answer on a project has. */
export interface ProjectAnswer {
  project_id: string;
  name: string | null;
  created: string;
  /** How many bytes its files and open uploads may have together; `null` where that is not limited. */
  max_bytes: number | null;
  /** The domain below which its owner may choose host names for applications; `null` where there is none. */
  host_suffix: string | null;
}

export interface DriveAnswer {
  drive_name: string;
  files: number;
  bytes: number;
}

export function projectAnswer(
  { project, name, created, maxBytes, hostSuffix }: ProjectInfo,
): ProjectAnswer {
  return {
    project_id: project,
    name: name ?? null,
    created: isoSeconds(created),
    max_bytes: maxBytes ?? null,
    host_suffix: hostSuffix ?? null,
  };
}

/** What every answer on a project's drives has of each. */
export function driveAnswer({ name, files, bytes }: DriveUsage): DriveAnswer {
  return { drive_name: name, files, bytes };
}

/** What all drives of a project hold together. */
export function sumOf(
  drives: readonly DriveUsage[],
): { files: number; bytes: number; open_upload_bytes: number } {
  const sum = { files: 0, bytes: 0, open_upload_bytes: 0 };
  for (const { files, bytes, openBytes } of drives) {
    sum.files += files;
    sum.bytes += bytes;
    sum.open_upload_bytes += openBytes;
  }
  return sum;
}

/** What the administrator is told of damage. */
export interface IntegrityAnswer {
  damaged_files: number;
  damaged: {
    project_id: string;
    drive_name: string;
    name: string;
    problem: string;
    found: string;
  }[];
  /** `null` before the first check of all files. */
  last_check_began: string | null;
  /** `null` while one runs, too. */
  last_check_ended: string | null;
  progress: number;
}

/** Damaged files that an answer lists; the number says how many there are. */
const MAX_LISTED_DAMAGES = 100;

/** Which files are damaged, and when all were checked. */
export function integrityAnswer({ damages, pass, progress }: Integrity): IntegrityAnswer {
  return {
    damaged_files: damages.length,
    damaged: damages.slice(0, MAX_LISTED_DAMAGES).map(({ place, problem, found }) => ({
      project_id: place.project,
      drive_name: place.drive,
      name: place.name,
      problem,
      found: isoSeconds(found),
    })),
    last_check_began: pass === undefined ? null : isoSeconds(pass.started),
    last_check_ended: pass?.finished === undefined ? null : isoSeconds(pass.finished),
    progress,
  };
}

/** The disk that all projects share, in bytes; `null` where nothing is known of it. */
export function diskAnswer(
  volume: Volume | undefined,
): { total: number | null; free: number | null } {
  return { total: volume?.total ?? null, free: volume?.free ?? null };
}

/** How the backups of the server are, for its administrator. */
export interface BackupsAnswer {
  /** When the newest whole backup was made; `null` if there is none. */
  newest: string | null;
  /** Seconds between two backups. */
  every: number;
  /** Backups that failed since the server was started. */
  failures: number;
  /** What is wrong, as a sentence; `null` if all is well. */
  problem: string | null;
}

export function backupsAnswer(
  { newest, every, failures, problem }: BackupStatus,
): BackupsAnswer {
  return {
    newest: newest === undefined ? null : isoSeconds(newest),
    every: every / 1000,
    failures,
    problem: problem ?? null,
  };
}

/** `GET /admin/v1/projects/{id}`: a project, its drives and what they hold. */
export async function showProject(call: ProjectCall, deps: Deps): Promise<Response> {
  return await projectDetails(call.info, call, deps);
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
  if (asked === undefined) throw errors.projectNotFound(project);
  const fields = await Fields.read(call, deps.idleTimeout, CHANGEABLE);
  const maxBytes = fields.sizeOrNull("max_bytes");
  const suffix = fields.textOrNull("host_suffix", (text) => suffixProblem(text, deps));
  if (maxBytes === undefined && suffix === undefined) throw errors.nothingToChange(CHANGEABLE);
  const hostSuffix = suffix === null ? null : suffix?.toLowerCase();
  const info = await projects.update(project, { maxBytes, hostSuffix });
  if (info === undefined) throw errors.projectNotFound(project);
  return await projectDetails(info, call, deps);
}

/** A suffix is as long as leaves room for a label before it. */
function suffixProblem(text: string, { hosts }: Deps): string | undefined {
  if (text.length <= MAX_HOST - 2) return hosts.problemOf(text.toLowerCase());
  return `is too long: at most ${MAX_HOST - 2} characters`;
}

/** The disk is all projects' together, so what of it is free is for the administrator alone. */
async function projectDetails(
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
  const isGone = isProjectId(project) && await store.projects.delete(project);
  if (!isGone) throw errors.projectNotFound(project);
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
  const isGone = await store.projects.deleteDrive(project, drive);
  if (!isGone) throw errors.driveNotFound(drive);
  return json(202, { project_id: project, drive_name: drive });
}

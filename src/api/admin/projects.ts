import { Fields } from "../../http/json_body.ts";
import { json } from "../../http/responses/json_response.ts";
import { jsonBody, jsonResponse } from "../../openapi/messages.ts";
import { closed, count, listOf, orNull, schema } from "../../openapi/schemas.ts";
import { driveNameProblem, isProjectId, keyNameProblem, MAX_LIST } from "../../rules/names.ts";
import { MAX_TRASH_DAYS } from "../../rules/units.ts";
import { keyPrefix } from "../../rules/secrets.ts";
import {
  type AdminCall,
  administratorEndpoint,
  changeFailures,
  jsonFailures,
  NO_PROJECT,
  projectEndpoint,
} from "./admin_call.ts";
import {
  backupsJson,
  diskJson,
  driveJson,
  integrityJson,
  MAX_LISTED_DAMAGES,
  projectJson,
  projectUsageJson,
  sumOf,
} from "./json.ts";
import { errors } from "../../http/http_error.ts";
import { MAX_HOST } from "../../rules/hosts.ts";
import { MAX_DELETING_DRIVES, type ProjectInfo } from "../../store/accounts/projects.ts";
import type { Deps } from "../endpoint.ts";

/** The longest time that the feeds keep changes, in days (docs/changes.md). */
const MAX_CHANGE_DAYS = 90;

const changeDays = {
  type: "integer",
  minimum: 0,
  maximum: MAX_CHANGE_DAYS,
  description: "How many days `listChanges` can go back; 0 if no changes are kept.",
};

const trashDays = {
  type: "integer",
  minimum: 0,
  maximum: MAX_TRASH_DAYS,
  description: "How many days the trash keeps deleted and replaced files; 0 for no trash.",
};

const projectFields = {
  project_id: schema("ProjectId"),
  name: orNull(schema("Label")),
  created: schema("Second"),
  max_bytes: orNull(schema("ByteLimit")),
  max_files: orNull(schema("FileLimit")),
  host_suffix: orNull(schema("HostSuffix")),
};

const usageFields = {
  trash_days: trashDays,
  change_days: changeDays,
  files: count("The number of files in all drives.", 12),
  bytes: count("Their total size.", 1_048_576),
  open_upload_bytes: count(
    "The total size of the parts of open uploads. They count towards `max_bytes` as well.",
    0,
  ),
  trash_files: count(
    "The number of files in the trash, which counts towards `max_files` as well.",
    3,
  ),
  trash_bytes: count("Their total size, which counts towards `max_bytes` as well.", 98_304),
};

/** `GET /admin/v1/projects`: every project with its usage. */
export const listProjects = administratorEndpoint({
  id: "listProjects",
  tag: "Projects",
  summary: "List projects",
  description: "Lists every project with its usage. For the administrator only.",
  success: { 200: jsonResponse("All projects, and the disk that they share.", "ProjectList") },
  schemas: {
    ProjectList: closed({
      projects: listOf(schema("ProjectUsage")),
      disk: schema("Disk"),
      integrity: schema("Integrity"),
      backups: schema("Backups"),
    }, { optional: ["backups"] }),
    ProjectUsage: closed({ ...projectFields, ...usageFields }, { optional: ["change_days"] }),
    Integrity: closed({
      damaged_files: count("The number of files known to be damaged.", 0),
      damaged: listOf(schema("DamagedFile")),
      last_check_began: orNull(schema("Second")),
      last_check_ended: orNull(schema("Second")),
      progress: {
        type: "number",
        description: "The share of all bytes that the running or the last check has read.",
        minimum: 0,
        maximum: 1,
      },
    }, {
      description:
        `The damaged files, the first ${MAX_LISTED_DAMAGES} of them, and the start and the end of the last check of ` +
        "all files; `null` before the first one, and the end also while one is running.",
    }),
    DamagedFile: closed({
      project_id: schema("ProjectId"),
      drive_name: schema("DriveName"),
      name: schema("FileName"),
      problem: { type: "string", description: "The damage, as the end of a sentence." },
      found: schema("Second"),
    }, { description: "A file whose bytes are missing or differ from those that were stored." }),
    Backups: closed({
      newest: orNull(schema("Second")),
      every: { type: "number", description: "Seconds between two backups.", examples: [86_400] },
      failures: count("The number of failed backups since the server was started.", 0),
      problem: orNull({
        type: "string",
        description: "The problem with the backups, as a sentence; `null` if there is none.",
        examples: ["There is no backup in /backups"],
      }),
    }, {
      description:
        "The state of the server's backups: the time of the newest complete one, and a problem, if any. " +
        "Absent if the server makes no backups.",
    }),
  },
}, async (_call, { store, volume, program }) => {
  const integrity = integrityJson(await store.integrity());
  const projects = (await store.usage()).map((used) => projectUsageJson(used, used));
  const disk = diskJson(await volume());
  const { backup } = await program.load();
  const optional = backup === undefined ? {} : { backups: backupsJson(backup) };
  return json(200, { projects, disk, integrity, ...optional });
});

const CREATE_FIELDS = ["name", "project_id", "max_bytes", "max_files", "trash_days"];

/** `POST /admin/v1/projects`: creates a project and its first key, which is returned only once. */
export const createProject = administratorEndpoint({
  id: "createProject",
  tag: "Projects",
  summary: "Create a project",
  description:
    "Creates a project and its first key, which is returned only in this response. Without `trash_days` its trash is as " +
    "`serve --trash-days` says: off by default. For the administrator only.",
  body: jsonBody(
    "Its name and id. Without an id the server chooses one.",
    schema("CreateProjectRequest"),
    { required: false, example: { name: "Photo album", project_id: "album" } },
  ),
  success: {
    201: jsonResponse("The project and its key.", "NewProject", {
      example: {
        project_id: "album",
        name: "Photo album",
        created: "2021-04-22T11:50:08Z",
        max_bytes: null,
        max_files: null,
        host_suffix: null,
        project_key: "album_k3JxQ0aBs7Wd9Zp2Lm4Nr8Tv1Yc5Eg6H",
        prefix: "k3JxQ0aB",
      },
    }),
  },
  failures: {
    ...jsonFailures,
    Conflict: "A project with this id exists, or one is still being removed.",
  },
  schemas: {
    CreateProjectRequest: closed({
      name: orNull(schema("Label")),
      project_id: orNull(schema("ProjectId")),
      max_bytes: orNull(schema("ByteLimit")),
      max_files: orNull(schema("FileLimit")),
      trash_days: trashDays,
    }, {
      optional: CREATE_FIELDS,
      description: "All fields are optional.",
    }),
    NewProject: closed({
      ...projectFields,
      project_key: schema("ProjectSecret"),
      prefix: schema("KeyPrefix"),
    }),
  },
}, async (call, deps) => {
  const { store, trashDays: usual } = deps;
  const fields = await Fields.read(call, deps, CREATE_FIELDS);
  const name = fields.optionalText("name", keyNameProblem);
  const id = fields.optionalText("project_id", projectIdProblem);
  const maxBytes = fields.sizeOrNull("max_bytes") ?? undefined;
  const maxFiles = fields.integerOrNull("max_files", 1, Number.MAX_SAFE_INTEGER) ?? undefined;
  const trashDays = fields.wholeNumber("trash_days", 0, MAX_TRASH_DAYS) ?? usual;
  const settings = { maxBytes, maxFiles, trashDays };
  const { info, key } = await store.projects.create(id, name, settings, call.actor);
  return json(201, { ...projectJson(info), project_key: key.text, prefix: keyPrefix(key) });
});

function projectIdProblem(id: string): string | undefined {
  return isProjectId(id) ? undefined : "must be 1 to 64 of A-Z a-z 0-9 -";
}

/** `GET /admin/v1/projects/{id}`: a project, its drives and their usage. */
export const showProject = projectEndpoint({
  id: "showProject",
  tag: "Projects",
  summary: "Show a project",
  description:
    `Returns a project, its usage, and the first ${MAX_LIST} of its drives; \`listDrives\` lists all of them. ` +
    "A key that is limited to some drives sees only these. " +
    "Only the administrator sees the disk.",
  success: { 200: jsonResponse("The project.", "ProjectDetails") },
  schemas: {
    ProjectDetails: closed({
      ...projectFields,
      ...usageFields,
      drives: listOf(schema("DriveUsage"), { maxItems: MAX_LIST }),
      disk: schema("Disk"),
    }, {
      optional: ["disk", "change_days"],
      description: "Only the administrator sees the disk. `change_days` is absent while it is 0.",
    }),
  },
}, (call, deps) => {
  // The sizes of drives tell about all of their files.
  call.rights.requireAllNames();
  return projectDetails(call.info, call, deps);
});

/** What only the administrator may set. */
const ADMINISTRATORS = ["max_bytes", "max_files", "host_suffix"];

const CHANGEABLE = [...ADMINISTRATORS, "name", "trash_days", "change_days"];

/**
 * `PATCH /admin/v1/projects/{id}`: sets the limits for the total size and the number of the project's files, the suffix
 * below which its owner may choose host names, and the name and the days of the trash and of the changes, which the owner
 * may set, too. `null` removes a limit, the suffix or the name.
 */
export const changeProject = projectEndpoint({
  id: "changeProject",
  tag: "Projects",
  summary: "Change a project",
  description:
    "Sets the limits for the total size and the number of the project's files; `null` removes one. Stored files are kept. " +
    "Sets the suffix below which the owner may choose host names for applications; names below the previous suffix " +
    "become invalid. These are for the administrator only. " +
    "Sets the name; `null` removes it. " +
    "Sets how many days the trash keeps files; 0 turns it off and empties it in the background. " +
    "Sets how many days changes are kept; 0 turns that off and forgets them.",
  body: jsonBody("The fields to set.", schema("ChangeProjectRequest"), {
    example: { max_bytes: 10_000_000_000 },
  }),
  success: { 200: jsonResponse("The changed project.", "ProjectDetails") },
  failures: {
    ...jsonFailures,
    Forbidden:
      "The key is of another project or does not administer this one, or a field is for the administrator only, or " +
      "`trash_days` is 0 and the key lacks the permission `delete`.",
  },
  schemas: {
    ChangeProjectRequest: closed({
      name: orNull(schema("Label")),
      max_bytes: orNull(schema("ByteLimit")),
      max_files: orNull(schema("FileLimit")),
      host_suffix: orNull(schema("HostSuffix")),
      trash_days: trashDays,
      change_days: changeDays,
    }, { optional: CHANGEABLE, description: "At least one field is required." }),
  },
}, async (call, deps) => {
  const fields = await Fields.read(call, deps, CHANGEABLE);
  if (!CHANGEABLE.some((name) => fields.has(name))) throw errors.nothingToChange(CHANGEABLE);
  const isOwners = !ADMINISTRATORS.some((name) => fields.has(name));
  if (!call.isAdministrator && !isOwners) throw errors.administratorOnly();
  const trashDays = fields.wholeNumber("trash_days", 0, MAX_TRASH_DAYS);
  // Without a trash, what is in it is deleted.
  if (trashDays === 0) call.rights.require("delete");
  const name = fields.textOrNull("name", keyNameProblem);
  const changeDays = fields.wholeNumber("change_days", 0, MAX_CHANGE_DAYS);
  const maxBytes = fields.sizeOrNull("max_bytes");
  const maxFiles = fields.integerOrNull("max_files", 1, Number.MAX_SAFE_INTEGER);
  const suffix = fields.textOrNull("host_suffix", (text) => suffixProblem(text, deps));
  const hostSuffix = suffix === null ? null : suffix?.toLowerCase();
  const changes = { name, maxBytes, maxFiles, hostSuffix, trashDays, changeDays };
  const info = await deps.store.projects.update(call.project, changes, call.actor);
  if (info === undefined) throw errors.projectNotFound(call.project);
  return await projectDetails(info, call, deps);
});

/** What is wrong with a suffix; it must leave room for a label in front of it. */
function suffixProblem(text: string, { hosts }: Deps): string | undefined {
  if (text.length <= MAX_HOST - 2) return hosts.problemOf(text.toLowerCase());
  return `is too long: at most ${MAX_HOST - 2} characters`;
}

/** `DELETE /admin/v1/projects/{id}`: deletes the project for every caller; its bytes are removed in the background. */
export const deleteProject = administratorEndpoint({
  id: "deleteProject",
  tag: "Projects",
  summary: "Delete a project",
  description:
    "The project no longer exists for any caller once this is answered; its bytes are removed in the background. " +
    "For the administrator only.",
  success: { 202: jsonResponse("The project was deleted.", "ProjectNamed") },
  failures: { ...changeFailures, NotFound: NO_PROJECT },
  schemas: { ProjectNamed: closed({ project_id: schema("ProjectId") }) },
}, async ({ params, actor }, { store }) => {
  const project = params["project"] ?? "";
  const isDeleted = isProjectId(project) && await store.projects.delete(project, actor);
  if (!isDeleted) throw errors.projectNotFound(project);
  return json(202, { project_id: project });
});

/** `DELETE /admin/v1/projects/{id}/drives/{drive}`: the same for one drive. */
export const deleteDrive = projectEndpoint({
  id: "deleteDrive",
  tag: "Projects",
  summary: "Delete a drive",
  description:
    "The drive's files no longer exist once this is answered; their bytes are removed in the background.",
  success: { 202: jsonResponse("The drive was deleted.", "DriveNamed") },
  failures: {
    ...changeFailures,
    BadRequest: "The name is not a valid drive name.",
    NotFound: "The drive or the project does not exist.",
    Conflict: `More than ${MAX_DELETING_DRIVES} drives of the project are being removed.`,
  },
  schemas: {
    DriveNamed: closed({ project_id: schema("ProjectId"), drive_name: schema("DriveName") }),
  },
}, async ({ project, params, rights, actor }, { store }) => {
  const drive = params["drive"] ?? "";
  const problem = driveNameProblem(drive);
  if (problem !== undefined) throw errors.badDriveName(problem);
  rights.requireDrive(drive);
  rights.requireAllNames();
  const isDeleted = await store.projects.deleteDrive(project, drive, actor);
  if (!isDeleted) throw errors.driveNotFound(drive);
  return json(202, { project_id: project, drive_name: drive });
});

/** A project with its first drives. The disk is shared by all projects, so only the administrator sees it. */
async function projectDetails(
  info: ProjectInfo,
  { isAdministrator, rights }: AdminCall,
  { store, volume }: Deps,
): Promise<Response> {
  const { project } = info;
  const page = { limit: MAX_LIST, prefix: "", last: "" };
  const { drives } = await store.listDrives({ project, among: rights.drives, ...page });
  const usage = rights.drives === undefined ? await store.usageOf(project) : sumOf(drives);
  return json(200, {
    ...projectUsageJson(info, usage),
    drives: drives.map(driveJson),
    ...(isAdministrator ? { disk: diskJson(await volume()) } : {}),
  });
}

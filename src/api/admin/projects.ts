import { Fields } from "../../http/json_body.ts";
import { json } from "../../http/responses/json_response.ts";
import { jsonBody, jsonResponse } from "../../openapi/messages.ts";
import { closed, count, listOf, orNull, schema } from "../../openapi/schemas.ts";
import { isProjectId, keyNameProblem } from "../../rules/names.ts";
import { MAX_TRASH_DAYS } from "../../rules/units.ts";
import { keyPrefix } from "../../rules/secrets.ts";
import { administratorEndpoint, jsonFailures } from "./admin_call.ts";
import {
  backupsJson,
  diskJson,
  integrityJson,
  MAX_LISTED_DAMAGES,
  projectJson,
  projectUsageJson,
} from "./json.ts";
import { projectFields, trashDays, usageFields } from "./project.ts";

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

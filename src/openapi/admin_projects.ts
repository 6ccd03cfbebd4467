import { MAX_ADMIN_BODY } from "../http/json_body.ts";
import { MAX_DELETING_DRIVES } from "../store/accounts/projects.ts";
import { forAdministrator, forOwner, TAGS } from "./info.ts";
import { type Failures, jsonBody, path, type PathDescription } from "./operation.ts";
import { inJson } from "./responses.ts";
import { parameter, type Paths, schema } from "./types.ts";

const ROOT = "/admin/v1/projects";

/** The errors that every call of the administration has. */
const callersFailures: Failures = {
  Unauthorized: "No credentials, or none that are known.",
  TooManyWrongKeys: "Too many wrong keys came from this network.",
};

/** The errors of what only the administrator may ask for. */
const administratorsOnly: Failures = {
  Forbidden: "A project key does not allow this: only the administrator's token does.",
};

const NO_PROJECT = "There is no such project.";

/** What all paths below one project have. */
export function ofProject(tag: string, ...parameters: readonly string[]): PathDescription {
  const failures = {
    ...callersFailures,
    Forbidden: "The key is of another project.",
    NotFound: NO_PROJECT,
  };
  return {
    tag,
    security: forOwner,
    unkept: true,
    parameters: ["Project", ...parameters].map(parameter),
    failures,
  };
}

/** The errors of a call that changes something. */
export const changingFailures: Failures = { StorageFull: "The disk is full: nothing was changed." };

/** The errors of a call with a body in JSON. */
export const jsonFailures: Failures = {
  ...changingFailures,
  BadRequest: "The body is no such JSON object: the error names the field that is wrong.",
  BodyTimeout: "The body stopped coming.",
  TooLarge: `The body is larger than ${MAX_ADMIN_BODY} bytes.`,
};

const example = {
  project_id: "album",
  name: "Photo album",
  created: "2021-04-22T11:50:08Z",
  max_bytes: null,
  host_suffix: null,
};

const projectsPath = path(
  {
    tag: TAGS.projects,
    security: forAdministrator,
    unkept: true,
    failures: { ...callersFailures, ...administratorsOnly },
  },
  {
    get: {
      id: "listProjects",
      summary: "List projects",
      description: "Every project and what it holds. For the administrator alone.",
      success: { 200: inJson("All projects, and the disk that they share.", "ProjectList") },
    },
    post: {
      id: "createProject",
      summary: "Make a project",
      description:
        "Makes a project and its first key, which is told in this answer only. For the administrator alone.",
      body: jsonBody("Its name and id. Without an id it gets one.", schema("ProjectToMake"), {
        required: false,
        example: { name: "Photo album", project_id: "album" },
      }),
      success: {
        201: inJson("The project, and its key.", "NewProject", {
          example: {
            ...example,
            project_key: "album_k3JxQ0aBs7Wd9Zp2Lm4Nr8Tv1Yc5Eg6H",
            prefix: "k3JxQ0aB",
          },
        }),
      },
      failures: {
        ...jsonFailures,
        Conflict: "There is a project of this id, or one is still being removed.",
      },
    },
  },
);

/** What of one project its owner may see, and the administrator limit and delete. */
const projectMethods = {
  get: {
    id: "showProject",
    summary: "Show a project",
    description:
      "A project, its drives, and what they hold. The disk is shown to the administrator alone.",
    success: { 200: inJson("The project.", "ProjectDetails") },
  },
  patch: {
    id: "changeProject",
    summary: "Change a project",
    security: forAdministrator,
    description:
      "Limits how many bytes its files may have together; `null` lifts the limit. What is stored stays. " +
      "Allows its owner host names for applications below a suffix; names chosen below an earlier one count no more. " +
      "For the administrator alone.",
    body: jsonBody("What is to be set.", schema("ProjectChange"), {
      example: { max_bytes: 10_000_000_000 },
    }),
    success: { 200: inJson("The project as it is now.", "ProjectDetails") },
    failures: { ...jsonFailures, ...administratorsOnly },
  },
  delete: {
    id: "deleteProject",
    summary: "Delete a project",
    security: forAdministrator,
    description:
      "From the answer on it is gone for every caller; its bytes are removed in the background. " +
      "For the administrator alone.",
    success: { 202: inJson("It is gone.", "ProjectNamed") },
    failures: { ...changingFailures, ...administratorsOnly },
  },
};

const keysPath = path(ofProject(TAGS.projects), {
  get: {
    id: "listProjectKeys",
    summary: "List project keys",
    description: "The keys of a project, by their prefixes.",
    success: { 200: inJson("All keys, without their secrets.", "ProjectKeyList") },
  },
  post: {
    id: "createProjectKey",
    summary: "Make a project key",
    description: "Another key of the project, which is told in this answer only.",
    body: jsonBody("Its name, for the list.", schema("ProjectKeyToMake"), {
      required: false,
      example: { name: "backup" },
    }),
    success: { 201: inJson("The key.", "NewProjectKey") },
    failures: jsonFailures,
  },
});

const keyPath = path(ofProject(TAGS.projects, "KeyPrefix"), {
  delete: {
    id: "revokeProjectKey",
    summary: "Revoke a project key",
    description:
      "From the answer on the key opens nothing; in other server processes within 5 seconds.",
    success: { 200: inJson("It is revoked.", "KeyNamed") },
    failures: {
      ...changingFailures,
      NotFound: "The project has no such key, or there is no such project.",
    },
  },
});

const drivePath = path(ofProject(TAGS.projects, "Drive"), {
  delete: {
    id: "deleteDrive",
    summary: "Delete a drive",
    description:
      "From the answer on its files are gone; their bytes are removed in the background.",
    success: { 202: inJson("It is gone.", "DriveNamed") },
    failures: {
      ...changingFailures,
      BadRequest: "The name cannot be one of a drive.",
      NotFound: "There is no such drive, or no such project.",
      Conflict: `More than ${MAX_DELETING_DRIVES} drives of the project are being removed.`,
    },
  },
});

export const projectPaths: Paths = {
  [ROOT]: projectsPath,
  [`${ROOT}/{project_id}`]: path(ofProject(TAGS.projects), projectMethods),
  [`${ROOT}/{project_id}/drives/{drive_name}`]: drivePath,
  [`${ROOT}/{project_id}/keys`]: keysPath,
  [`${ROOT}/{project_id}/keys/{prefix}`]: keyPath,
};

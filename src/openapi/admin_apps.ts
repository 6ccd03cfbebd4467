import { changingFailures, jsonFailures, ofProject } from "./admin_projects.ts";
import { TAGS } from "./info.ts";
import { jsonBody, path } from "./operation.ts";
import { inJson } from "./responses.ts";
import { type Paths, schema } from "./types.ts";

const APPS = "/admin/v1/projects/{project_id}/apps";
const NO_APP = "There is no such application, or no such project.";
const FOREIGN =
  "The key is of another project, or an owner names an upstream, or a host that is not below the project's suffix.";

const app = {
  name: "viewer",
  project_id: "album",
  upstream: "http://127.0.0.1:3000",
  host: null,
  access: { enabled: true },
  created: "2021-04-22T11:50:08Z",
};

const appsPath = path(ofProject(TAGS.applications), {
  get: {
    id: "listApps",
    summary: "List applications",
    success: {
      200: inJson("All applications of the project, and where the gate to them is.", "AppList", {
        example: { apps: [app], gate: { port: 8001, scheme: "http" } },
      }),
    },
  },
  post: {
    id: "createApp",
    summary: "Make an application",
    description:
      "Its access control is off, unless `access` says something else. Only the administrator says where it runs and " +
      "which host name it has; an owner may choose one below the project's `host_suffix`.",
    body: jsonBody("Its name, where it runs, and its host name.", schema("AppToMake"), {
      example: { name: "viewer", upstream: "http://127.0.0.1:3000" },
    }),
    success: { 201: inJson("The application.", "App") },
    failures: {
      ...jsonFailures,
      Forbidden: FOREIGN,
      Conflict:
        "The name or the host name is taken, or an application of this name is still being removed.",
    },
  },
});

const appPath = path(ofProject(TAGS.applications, "App"), {
  get: {
    id: "showApp",
    summary: "Show an application",
    success: { 200: inJson("The application.", "App", { example: app }) },
    failures: { NotFound: NO_APP },
  },
  patch: {
    id: "changeApp",
    summary: "Change an application",
    description:
      "Sets what is named. Only the administrator says where it runs and which host name it has; an owner may choose " +
      "one below the project's `host_suffix`.",
    body: jsonBody("What is to be set.", schema("AppChange"), {
      required: false,
      example: { host: "viewer.example.com" },
    }),
    success: { 200: inJson("The application as it is now.", "App") },
    failures: {
      ...jsonFailures,
      Forbidden: FOREIGN,
      NotFound: NO_APP,
      Conflict: "The host name is taken.",
    },
  },
  delete: {
    id: "deleteApp",
    summary: "Delete an application",
    description: "With its keys. What callers have open ends at once.",
    success: { 200: inJson("It is gone.", "AppNamed") },
    failures: { ...changingFailures, NotFound: NO_APP },
  },
});

const accessPath = path(ofProject(TAGS.applications, "App"), {
  get: {
    id: "showAccess",
    summary: "Show the access control",
    success: { 200: inJson("Whether it is on.", "Access") },
    failures: { NotFound: NO_APP },
  },
  put: {
    id: "switchAccess",
    summary: "Switch the access control",
    description: "While it is off, everyone gets in. The keys stay.",
    body: jsonBody("On or off.", schema("Access"), { example: { enabled: true } }),
    success: { 200: inJson("What it is now.", "Access") },
    failures: { ...jsonFailures, NotFound: NO_APP },
  },
});

const appKeysPath = path(ofProject(TAGS.applications, "App"), {
  get: {
    id: "listAppKeys",
    summary: "List keys of an application",
    success: { 200: inJson("All keys, without their secrets.", "AppKeyList") },
    failures: { NotFound: NO_APP },
  },
  post: {
    id: "createAppKey",
    summary: "Make a key of an application",
    description: "The key is told in this answer only.",
    body: jsonBody("Its name, and what it is for.", schema("AppKeyToMake"), {
      example: { name: "ci", description: "nightly run" },
    }),
    success: {
      201: inJson("The key.", "NewAppKey", {
        example: {
          name: "ci",
          description: "nightly run",
          prefix: "9fKq2LmX",
          created: "2021-04-22T11:50:08Z",
          api_key: "9fKq2LmX.s7Wd9Zp2Lm4Nr8Tv1Yc5Eg6Hb3Jk0Qx8",
        },
      }),
    },
    failures: {
      ...jsonFailures,
      NotFound: NO_APP,
      Conflict: "Access control is off, or the name is taken.",
    },
  },
});

const appKeyPath = path(ofProject(TAGS.applications, "App", "AppKeyName"), {
  delete: {
    id: "revokeAppKey",
    summary: "Revoke a key of an application",
    description:
      "From the answer on the key opens nothing; in other server processes within 5 seconds.",
    success: { 200: inJson("It is revoked.", "AppKeyNamed") },
    failures: {
      ...changingFailures,
      NotFound: "There is no such key, application or project.",
    },
  },
});

export const appPaths: Paths = {
  [APPS]: appsPath,
  [`${APPS}/{app}`]: appPath,
  [`${APPS}/{app}/access`]: accessPath,
  [`${APPS}/{app}/keys`]: appKeysPath,
  [`${APPS}/{app}/keys/{name}`]: appKeyPath,
};

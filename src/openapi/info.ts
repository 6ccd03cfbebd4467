import type { Json, Security } from "./types.ts";

const DESCRIPTION = `
Files in named drives of projects, the administration of projects and of applications that run beside the server.

A drive exists as soon as something is put into it. Files of up to 10 MB go into one request, larger ones into an upload in
parts. A file is seen whole or not at all, and an answer of 2xx to a write means that it is on the disk.

What holds everywhere, and is not repeated at each call:

- The checks have an order: route, method, key, parameters, body. A path that is not described here is 404, a method that is
  not is 405 with \`Allow\`.
- An error is \`{"errors": ["one sentence that says what was wrong and what would be right"]}\`.
- Query strings have the rules of \`application/x-www-form-urlencoded\`: \`+\` is a space. Malformed percent-encoding, and
  bytes that are not UTF-8, are 400. So is a parameter that is given twice (but for \`names\`). Unknown ones are ignored.
- Bodies in JSON are read as such whatever \`Content-Type\` says.
- \`HEAD\` answers as \`GET\` does, without the body.
- Answers also have the usual \`Date\`, \`Content-Type\`, \`Content-Length\` or \`Transfer-Encoding\`, and \`Connection\`.
- After 20 wrong keys or tokens within a minute from one address further wrong ones are 429. A right one always passes.
`.trim();

export const info: Readonly<Record<string, Json>> = {
  title: "kvdrive",
  summary: "File storage in named drives",
  description: DESCRIPTION,
  version: "1.0.0",
  license: { name: "MIT", identifier: "MIT" },
};

/** "Call this very server": whatever name a tool has fetched the document under. */
export const servers = [{ url: "/", description: "The server that this description is of" }];

export const TAGS = {
  files: "Files",
  uploads: "Uploads in parts",
  projects: "Projects",
  applications: "Applications",
  server: "The server",
} as const;

export const tags = [
  { name: TAGS.files, description: "What is stored in the drives of a project." },
  { name: TAGS.uploads, description: "Files of more than 10 MB, sent in parts of 5 to 10 MB." },
  {
    name: TAGS.projects,
    description: "Projects, their keys and drives, for the administrator and for owners.",
  },
  {
    name: TAGS.applications,
    description: "Applications beside the server, and who may come in to them.",
  },
  {
    name: TAGS.server,
    description: "The server itself: how it is, this description, and the dashboard.",
  },
];

export const securitySchemes = {
  ProjectKey: {
    type: "apiKey",
    in: "header",
    name: "X-Api-Key",
    description:
      "A key of the project, `<project_id>_<secret>`. It opens all drives of that project.",
  },
  AdministratorToken: {
    type: "http",
    scheme: "bearer",
    description:
      "The administrator's token, which opens everything. On drives, a key decides if both are sent.",
  },
  MetricsToken: {
    type: "http",
    scheme: "bearer",
    description: "The token for metrics (`--metrics-token`), which opens nothing else.",
  },
  ApplicationKey: {
    type: "apiKey",
    in: "header",
    name: "X-API-Key",
    description: "A key of the application, `<prefix>.<secret>`, or the project key of its owner.",
  },
};

/** Nobody has to show anything. */
export const forEverybody: Security = [];

/** The owner by a key of the project, or the administrator. */
export const forOwner: Security = [{ ProjectKey: [] }, { AdministratorToken: [] }];

/** The administrator, and who has the token for metrics. */
export const forMetrics: Security = [{ MetricsToken: [] }, { AdministratorToken: [] }];

export const forAdministrator: Security = [{ AdministratorToken: [] }];

/** Whoever is let in to an application: without a key while its access control is off. */
export const forCallers: Security = [{ ApplicationKey: [] }, {}];

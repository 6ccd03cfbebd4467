import type { Json, Security } from "./types.ts";

const DESCRIPTION = `
Stores files in named drives of projects, and administers projects and the applications that run behind the server's gate.

A drive is created by the first file stored in it. A file of up to 10 MB can be sent in one request; a larger one needs an
upload in parts. Readers always see a complete version of a file. A 2xx response to a write means that it is on disk.

The following applies to every operation and is not repeated below:

- Checks have a fixed order: route, method, key, parameters, body. An unknown path is answered with 404, an unsupported
  method with 405 and \`Allow\`.
- An error is \`{"errors": ["one sentence that says what was wrong and what would be right"], "code": "file_not_found"}\`.
  Codes are stable, and a later version may have further ones; sentences may change.
- Query strings follow \`application/x-www-form-urlencoded\`: \`+\` is a space. Malformed percent-encoding, invalid UTF-8
  and a repeated parameter (except \`names\`) are answered with 400. Unknown parameters are ignored.
- JSON bodies are parsed as JSON regardless of \`Content-Type\`.
- \`HEAD\` has the same headers as \`GET\`, without the body.
- Responses also have the usual \`Date\`, \`Content-Type\`, \`Content-Length\` or \`Transfer-Encoding\`, and \`Connection\`.
- After 20 wrong keys or tokens from one network, further wrong ones are answered with 429. A correct one is always accepted.
`.trim();

/** The title and the general description. */
export const info: Readonly<Record<string, Json>> = {
  title: "kvdrive",
  summary: "File storage in named drives",
  description: DESCRIPTION,
  version: "1.0.0",
  license: { name: "MIT", identifier: "MIT" },
};

/**
 * Returns a relative address: tools resolve it against the address they fetched the document from.
 *
 * @param basePath The path that all routes are below; empty for none.
 */
export function serversAt(basePath: string): { url: string; description: string }[] {
  return [{ url: basePath || "/", description: "This server" }];
}

/** The groups of operations, in their order. */
export const tags = [
  { name: "Files", description: "The files in the drives of a project." },
  {
    name: "Uploads in parts",
    description: "Files of more than 10 MB, sent in parts of 5 to 10 MB.",
  },
  { name: "Sharing", description: "Links, which open files to those who have no key." },
  {
    name: "Trash",
    description: "Deleted and replaced files, while the project has a trash (`trash_days`).",
  },
  {
    name: "Projects",
    description: "Projects, their keys and drives, for the administrator and for owners.",
  },
  {
    name: "Applications",
    description: "Applications behind the gate, and who may use them.",
  },
  {
    name: "Webhooks",
    description: "Where the changes of a project are delivered.",
  },
  {
    name: "The server",
    description: "The server itself: health, metrics, this description, and the dashboard.",
  },
] as const;

/** A group of operations. */
export type Tag = typeof tags[number]["name"];

export const securitySchemes = {
  ProjectKey: {
    type: "apiKey",
    in: "header",
    name: "X-Api-Key",
    description:
      "A key of the project, `<project_id>_<secret>`. It gives access to all drives of that project.",
  },
  AdministratorToken: {
    type: "http",
    scheme: "bearer",
    description:
      "The administrator's token, which gives access to everything. If a request to a drive has both, the key decides.",
  },
  SessionHeader: {
    type: "apiKey",
    in: "header",
    name: "X-Kvdrive-Session",
    description:
      "Beside the cookie of the dashboard: `csrf` of the session. It counts as the key or token that the browser is signed in with.",
  },
  MetricsToken: {
    type: "http",
    scheme: "bearer",
    description: "The token for metrics (`--metrics-token`), which gives access to nothing else.",
  },
  ApplicationKey: {
    type: "apiKey",
    in: "header",
    name: "X-API-Key",
    description: "A key of the application, `<prefix>.<secret>`, or the project key of its owner.",
  },
};

export const noCredentials: Security = [];

/** A project key, or the administrator's token. */
export const forOwner: Security = [
  { ProjectKey: [] },
  { AdministratorToken: [] },
  { SessionHeader: [] },
];

/** The token for metrics, or the administrator's. */
export const forMetrics: Security = [{ MetricsToken: [] }, { AdministratorToken: [] }];

export const forAdministrator: Security = [{ AdministratorToken: [] }, { SessionHeader: [] }];

/** A key of the application; none while its access control is off. */
export const forCallers: Security = [{ ApplicationKey: [] }, {}];

import { MAX_HOST, MAX_HOST_LABEL, MAX_UPSTREAM } from "../rules/hosts.ts";
import { MAX_APP_NAME, MAX_DESCRIPTION, MAX_KEY_NAME } from "../rules/names.ts";
import { APP_KEY_PREFIX_LENGTH, KEY_PREFIX_LENGTH, MAX_KEY_HEADER } from "../rules/secrets.ts";
import { closed, count, listOf } from "./schemas.ts";
import { type Schema, schema } from "./types.ts";

const HOST_LABEL = `[A-Za-z0-9]([A-Za-z0-9-]{0,${MAX_HOST_LABEL - 2}}[A-Za-z0-9])?`;

/** A last label that browsers read as a part of an IPv4 address. */
const NUMBER_AT_END = "(^|\\.)([0-9]+|0[xX][0-9A-Fa-f]*)$";

/** A schema that `null` fits too. */
function orNull(one: Schema): Schema {
  return { oneOf: [one, { type: "null" }] };
}

const projectFields = {
  project_id: schema("ProjectId"),
  name: orNull(schema("Label")),
  created: schema("Second"),
  max_bytes: orNull(schema("ByteLimit")),
  host_suffix: orNull(schema("HostSuffix")),
};

const usageFields = {
  files: count("Files in all drives.", 12),
  bytes: count("Bytes of all of them.", 1_048_576),
  open_upload_bytes: count(
    "Bytes of the parts of uploads that are open. They count towards `max_bytes`, too.",
    0,
  ),
};

const appKeyFields = {
  name: schema("Label"),
  description: orNull(schema("Description")),
  prefix: schema("AppKeyPrefix"),
  created: schema("Second"),
};

/** The schemas of the administration. */
export const adminSchemas: Readonly<Record<string, Schema>> = {
  Label: {
    type: "string",
    description:
      `A name for lists: 1 to ${MAX_KEY_NAME} characters, not blank, no control characters.`,
    minLength: 1,
    maxLength: MAX_KEY_NAME,
    allOf: [{ pattern: "\\S" }, { pattern: "^[^\\u0000-\\u001f\\u007f-\\u009f]+$" }],
    examples: ["nightly backup"],
  },
  Description: {
    type: "string",
    description: "No control characters but newlines.",
    maxLength: MAX_DESCRIPTION,
    pattern: "^[^\\u0000-\\u0009\\u000b-\\u001f\\u007f-\\u009f]*$",
  },
  Second: {
    type: "string",
    format: "date-time",
    pattern: "^\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\dZ$",
    examples: ["2021-04-22T11:50:08Z"],
  },
  KeyPrefix: {
    type: "string",
    pattern: `^[\\x21-\\x7e]{${KEY_PREFIX_LENGTH}}$`,
    examples: ["k3JxQ0aB"],
  },
  AppKeyPrefix: {
    type: "string",
    pattern: `^[A-Za-z0-9]{${APP_KEY_PREFIX_LENGTH}}$`,
    examples: ["9fKq2LmX"],
  },
  AppName: {
    type: "string",
    pattern: `^[A-Za-z0-9][A-Za-z0-9._-]{0,${MAX_APP_NAME - 1}}$`,
    examples: ["viewer"],
  },
  Upstream: {
    type: "string",
    description: "Where the application runs: http or https, a host and a port, and nothing else.",
    maxLength: MAX_UPSTREAM,
    pattern: "^[Hh][Tt][Tt][Pp][Ss]?://[^\\s\\\\/?#@]+/?$",
    examples: ["http://127.0.0.1:3000"],
  },
  HostName: {
    type: "string",
    description:
      "The application's own host name, without a port; no IP address, no `localhost`, no public suffix such as " +
      "`com` or `github.io`, and no name of the server itself.",
    maxLength: MAX_HOST,
    pattern: `^${HOST_LABEL}(\\.${HOST_LABEL})*$`,
    not: { pattern: NUMBER_AT_END },
    examples: ["viewer.example.com"],
  },
  HostSuffix: {
    type: "string",
    description:
      "The domain below which the project's owner may choose host names for applications; `null` for none. " +
      "No public suffix such as `com` or `github.io`, and no name of the server itself.",
    maxLength: MAX_HOST - 2,
    pattern: `^${HOST_LABEL}(\\.${HOST_LABEL})*$`,
    not: { pattern: NUMBER_AT_END },
    examples: ["apps.example.com"],
  },
  ByteLimit: {
    type: "integer",
    format: "int64",
    description:
      "How many bytes the files and the open uploads of the project may have together; `null` where that is not limited.",
    minimum: 1,
    maximum: Number.MAX_SAFE_INTEGER,
    examples: [10_000_000_000],
  },
  Disk: closed({
    total: orNull(count("Bytes.", 500_000_000_000)),
    free: orNull(count("Bytes.", 120_000_000_000)),
  }, { description: "The disk that all projects share; `null` where nothing is known of it." }),
  DamagedFile: closed({
    project_id: schema("ProjectId"),
    drive_name: schema("DriveName"),
    name: schema("FileName"),
    problem: { type: "string", description: "What is wrong with it, as the end of a sentence." },
    found: schema("Second"),
  }, { description: "A file whose bytes are missing or are not those that were stored." }),
  Integrity: closed({
    damaged_files: count("Files that are known to be damaged.", 0),
    damaged: listOf(schema("DamagedFile")),
    last_check_began: orNull(schema("Second")),
    last_check_ended: orNull(schema("Second")),
    progress: {
      type: "number",
      description: "The part of all bytes that the running or the last check has read.",
      minimum: 0,
      maximum: 1,
    },
  }, {
    description: "Which files are damaged, the first 100 of them, and when the server began and " +
      "ended to check all files; `null` where it has not yet.",
  }),
  Backups: closed({
    newest: orNull(schema("Second")),
    every: { type: "number", description: "Seconds between two backups.", examples: [86_400] },
    failures: count("Backups that failed since the server was started.", 0),
    problem: orNull({
      type: "string",
      description: "What is wrong, as a sentence.",
      examples: ["There is no backup in /backups"],
    }),
  }, {
    description:
      "How the backups of the server are: when the newest whole one was made, and what " +
      "is wrong, if anything. Absent if the server makes no backups.",
  }),
  ProjectSecret: {
    type: "string",
    description: "The key, in this answer and nowhere else: `<project_id>_<secret>`.",
    pattern: "^[A-Za-z0-9-]+_[\\x21-\\x7e]+$",
    maxLength: MAX_KEY_HEADER,
  },

  ProjectToMake: closed({
    name: orNull(schema("Label")),
    project_id: orNull(schema("ProjectId")),
    max_bytes: orNull(schema("ByteLimit")),
  }, { optional: ["name", "project_id", "max_bytes"], description: "All may be left out." }),
  ProjectChange: closed({
    max_bytes: orNull(schema("ByteLimit")),
    host_suffix: orNull(schema("HostSuffix")),
  }, { optional: ["max_bytes", "host_suffix"], description: "At least one is named." }),
  NewProject: closed({
    ...projectFields,
    project_key: schema("ProjectSecret"),
    prefix: schema("KeyPrefix"),
  }),
  ProjectUsage: closed({ ...projectFields, ...usageFields }),
  ProjectList: closed({
    projects: listOf(schema("ProjectUsage")),
    disk: schema("Disk"),
    integrity: schema("Integrity"),
    backups: schema("Backups"),
  }, { optional: ["backups"] }),
  ProjectDetails: closed({
    ...projectFields,
    ...usageFields,
    drives: listOf(schema("DriveUsage")),
    disk: schema("Disk"),
  }, { optional: ["disk"], description: "The disk is there for the administrator alone." }),
  ProjectNamed: closed({ project_id: schema("ProjectId") }),
  DriveNamed: closed({ project_id: schema("ProjectId"), drive_name: schema("DriveName") }),

  ProjectKeyToMake: closed({ name: orNull(schema("Label")) }, { optional: ["name"] }),
  NewProjectKey: closed({
    name: orNull(schema("Label")),
    prefix: schema("KeyPrefix"),
    project_key: schema("ProjectSecret"),
    created: schema("Second"),
  }),
  ProjectKeyList: closed({
    keys: listOf(closed({
      prefix: schema("KeyPrefix"),
      name: orNull(schema("Label")),
      created: schema("Second"),
    })),
  }),
  KeyNamed: closed({ prefix: schema("KeyPrefix") }),

  AppToMake: closed({
    name: schema("AppName"),
    upstream: orNull(schema("Upstream")),
    host: orNull(schema("HostName")),
    access: schema("Access"),
  }, { optional: ["upstream", "host", "access"] }),
  AppChange: closed({
    upstream: orNull(schema("Upstream")),
    host: orNull(schema("HostName")),
  }, {
    optional: ["upstream", "host"],
    description: "What is named is set; `null` takes it away.",
  }),
  App: closed({
    name: schema("AppName"),
    project_id: schema("ProjectId"),
    upstream: orNull(schema("Upstream")),
    host: orNull(schema("HostName")),
    access: schema("Access"),
    created: schema("Second"),
  }),
  AppList: closed({
    apps: listOf(schema("App")),
    gate: orNull(closed({
      port: { type: "integer", minimum: 1, maximum: 65_535 },
      scheme: { type: "string", enum: ["http", "https"] },
    }, { description: "Where the gate to the applications listens; `null` without one." })),
  }),
  AppNamed: closed({ name: schema("AppName") }),
  Access: closed({
    enabled: {
      type: "boolean",
      description: "Whether only the owner and holders of a key come in.",
    },
  }),

  AppKeyToMake: closed({
    name: schema("Label"),
    description: orNull(schema("Description")),
  }, { optional: ["description"] }),
  NewAppKey: closed({
    ...appKeyFields,
    api_key: {
      type: "string",
      description: "The key, in this answer and nowhere else: `<prefix>.<secret>`.",
      pattern: `^[A-Za-z0-9]{${APP_KEY_PREFIX_LENGTH}}\\.[A-Za-z0-9]+$`,
    },
  }),
  AppKeyList: closed({ keys: listOf(closed(appKeyFields)) }),
  AppKeyNamed: closed({ name: schema("Label") }),
};

import { ERROR_CODE_NAMES, errorKind } from "../rules/error_codes.ts";
import { MAX_HOST, MAX_HOST_LABEL, MAX_UPSTREAM } from "../rules/hosts.ts";
import { MAX_EXPIRES_IN } from "../rules/units.ts";
import {
  MAX_APP_NAME,
  MAX_DESCRIPTION,
  MAX_DRIVE_NAME,
  MAX_FILE_NAME,
  MAX_KEY_NAME,
  MAX_LIST,
  MAX_PROJECT_ID,
} from "../rules/names.ts";
import { MAX_PARTS } from "../rules/payloads.ts";
import { APP_KEY_PREFIX_LENGTH, KEY_PREFIX_LENGTH, MAX_KEY_HEADER } from "../rules/secrets.ts";
import type { Schema } from "./types.ts";

/** A reference to a schema in `components`. */
export function schema(name: string): Schema {
  return { $ref: `#/components/schemas/${name}` };
}

/** An object with exactly these fields, all of which are required except the optional ones. */
export function closed(
  properties: Readonly<Record<string, Schema>>,
  { optional = [], description }: { optional?: readonly string[]; description?: string } = {},
): Schema {
  return {
    type: "object",
    ...(description === undefined ? {} : { description }),
    properties,
    required: Object.keys(properties).filter((name) => !optional.includes(name)),
    additionalProperties: false,
  };
}

/** An array of these items. */
export function listOf(items: Schema, more: Schema = {}): Schema {
  return { type: "array", items, ...more };
}

/** A number of files or bytes. */
export function count(description: string, example: number): Schema {
  return { type: "integer", format: "int64", minimum: 0, description, examples: [example] };
}

/** The schema, or `null`. */
export function orNull(one: Schema): Schema {
  return { oneOf: [one, { type: "null" }] };
}

/** The pattern of a text that has a character other than white space of Unicode, for engines without `\p`, too. */
export const NOT_BLANK =
  "[^\\t-\\r \\u0085\\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000]";

const HOST_LABEL = `[A-Za-z0-9]([A-Za-z0-9-]{0,${MAX_HOST_LABEL - 2}}[A-Za-z0-9])?`;
const HOST = `^${HOST_LABEL}(\\.${HOST_LABEL})*$`;

/** The pattern of a host name whose last label browsers read as a part of an IPv4 address. */
const NUMBER_AT_END = "(^|\\.)([0-9]+|0[xX][0-9A-Fa-f]*)$";

const SECOND: Schema = {
  type: "string",
  format: "date-time",
  pattern: "^\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\dZ$",
  examples: ["2021-04-22T11:50:08Z"],
};

/** A list of the error codes in Markdown. */
function codesText(): string {
  return ERROR_CODE_NAMES.map((code) => {
    const { status, meaning } = errorKind(code);
    return `- \`${code}\` (${status}): ${meaning}`;
  }).join("\n");
}

/** The schemas that operations share, by their names in `components`. */
export const sharedSchemas: Readonly<Record<string, Schema>> = {
  ErrorCode: {
    type: "string",
    enum: ERROR_CODE_NAMES,
    description:
      `Why the request, or the item of a list, was refused, for programs.\n\n${codesText()}`,
    examples: ["file_not_found"],
  },
  Errors: closed({
    errors: listOf({ type: "string", minLength: 1 }, {
      minItems: 1,
      description: "Sentences that say what was wrong and what would be right.",
      examples: [['The query parameter "name" is missing: it is required']],
    }),
    code: schema("ErrorCode"),
  }),
  Paging: closed({
    size: {
      type: "integer",
      minimum: 0,
      maximum: MAX_LIST,
      description: "The number of names in this response; 0 only in a search.",
    },
    last: {
      type: "string",
      minLength: 1,
      description:
        "The last of these names, or the last one that a search looked at: `last` of the next request.",
    },
  }, { description: "Present if and only if there is a next page." }),
  Time: { type: "string", format: "date-time", examples: ["2021-04-22T11:50:08.123Z"] },
  ExpiresIn: {
    type: "integer",
    description: "A number of seconds.",
    minimum: 1,
    maximum: MAX_EXPIRES_IN,
    examples: [86_400],
  },
  Deadline: {
    ...SECOND,
    description: "From when on the file is absent. Only files that expire have it.",
  },
  ClientTime: {
    type: "string",
    format: "date-time",
    description: "When the caller's own copy was last modified.",
    pattern: "^\\d{4}-\\d\\d-\\d\\d[Tt]\\d\\d:\\d\\d:\\d\\d(\\.\\d{1,3})?[Zz]$",
    examples: ["2021-04-22T11:50:08.123Z"],
  },
  Second: SECOND,

  ProjectId: {
    type: "string",
    pattern: `^[A-Za-z0-9-]{1,${MAX_PROJECT_ID}}$`,
    examples: ["album"],
  },
  DriveName: {
    type: "string",
    description:
      `1 to ${MAX_DRIVE_NAME} bytes of UTF-8, not blank, without "/" and control characters.`,
    minLength: 1,
    maxLength: MAX_DRIVE_NAME,
    allOf: [{ pattern: NOT_BLANK }, { pattern: "^[^/\\u0000-\\u001f\\u007f-\\u009f]+$" }],
    examples: ["photos"],
  },
  FileName: {
    type: "string",
    description:
      `1 to ${MAX_FILE_NAME} bytes of UTF-8, not blank, without NUL and without "/" at the end. Kept byte for byte.`,
    minLength: 1,
    maxLength: MAX_FILE_NAME,
    allOf: [{ pattern: NOT_BLANK }, { pattern: "^[^\\u0000]*[^/\\u0000]$" }],
    examples: ["pets/cat.jpg"],
  },
  DriveUsage: closed({
    drive_name: schema("DriveName"),
    files: count("The number of files in the drive.", 12),
    bytes: count("Their total size.", 1_048_576),
  }),

  UploadId: { type: "string", minLength: 1, examples: ["01J9Z3NDEKTSV4RRFFQ69G5FAV"] },
  PartNumber: { type: "integer", minimum: 1, maximum: MAX_PARTS, examples: [1] },
  Upload: closed({
    name: schema("FileName"),
    upload_id: schema("UploadId"),
    project_id: schema("ProjectId"),
    drive_name: schema("DriveName"),
  }),
  ExpiringUpload: closed({
    name: schema("FileName"),
    upload_id: schema("UploadId"),
    project_id: schema("ProjectId"),
    drive_name: schema("DriveName"),
    expires: schema("Deadline"),
  }, { optional: ["expires"] }),

  Label: {
    type: "string",
    description:
      `A name for lists: 1 to ${MAX_KEY_NAME} characters, not blank, no control characters.`,
    minLength: 1,
    maxLength: MAX_KEY_NAME,
    allOf: [{ pattern: NOT_BLANK }, { pattern: "^[^\\u0000-\\u001f\\u007f-\\u009f]+$" }],
    examples: ["nightly backup"],
  },
  Description: {
    type: "string",
    description: "No control characters except newlines.",
    maxLength: MAX_DESCRIPTION,
    pattern: "^[^\\u0000-\\u0009\\u000b-\\u001f\\u007f-\\u009f]*$",
  },
  ByteLimit: {
    type: "integer",
    format: "int64",
    description:
      "The maximum total size of the project's files, trash and open uploads; `null` for no limit.",
    minimum: 1,
    maximum: Number.MAX_SAFE_INTEGER,
    examples: [10_000_000_000],
  },
  FileLimit: {
    type: "integer",
    format: "int64",
    description:
      "The maximum number of the project's files, with those in the trash; `null` for no limit.",
    minimum: 1,
    maximum: Number.MAX_SAFE_INTEGER,
    examples: [1_000_000],
  },
  Disk: closed({
    total: orNull(count("Bytes.", 500_000_000_000)),
    free: orNull(count("Bytes.", 120_000_000_000)),
  }, { description: "The disk that all projects share; `null` if its size is not known." }),
  NamePrefix: {
    type: "string",
    maxLength: MAX_FILE_NAME,
    pattern: "^[^\\u0000]*$",
    description: "The beginning of names, such as `trip/2026/` for a folder.",
    examples: ["trip/2026/"],
  },
  KeyPrefix: {
    type: "string",
    pattern: `^[\\x21-\\x7e]{${KEY_PREFIX_LENGTH}}$`,
    examples: ["k3JxQ0aB"],
  },
  AccessKeyId: {
    type: "string",
    pattern: "^KV[A-Z0-9]{18}$",
    examples: ["KV5T8QZ0M3RWXN7J2B4K"],
  },
  ProjectSecret: {
    type: "string",
    description: "The key, `<project_id>_<secret>`. It is returned only once, in this response.",
    pattern: "^[A-Za-z0-9-]+_[\\x21-\\x7e]+$",
    maxLength: MAX_KEY_HEADER,
  },

  AppName: {
    type: "string",
    pattern: `^[A-Za-z0-9][A-Za-z0-9._-]{0,${MAX_APP_NAME - 1}}$`,
    examples: ["viewer"],
  },
  AppKeyPrefix: {
    type: "string",
    pattern: `^[A-Za-z0-9]{${APP_KEY_PREFIX_LENGTH}}$`,
    examples: ["9fKq2LmX"],
  },
  Upstream: {
    type: "string",
    description:
      "The address of the application: http or https, a host and a port, and nothing else.",
    maxLength: MAX_UPSTREAM,
    pattern: "^[Hh][Tt][Tt][Pp][Ss]?://[^\\s\\\\/?#@]+/?$",
    examples: ["http://127.0.0.1:3000"],
  },
  HostName: {
    type: "string",
    description:
      "The application's own host name, without a port; not an IP address, `localhost`, a public suffix such as " +
      "`com` or `github.io`, or a name of the server itself.",
    maxLength: MAX_HOST,
    pattern: HOST,
    not: { pattern: NUMBER_AT_END },
    examples: ["viewer.example.com"],
  },
  HostSuffix: {
    type: "string",
    description:
      "The domain below which the project's owner may choose host names for applications; `null` for none. " +
      "Not a public suffix such as `com` or `github.io`, and not a name of the server itself.",
    maxLength: MAX_HOST - 2,
    pattern: HOST,
    not: { pattern: NUMBER_AT_END },
    examples: ["apps.example.com"],
  },
};

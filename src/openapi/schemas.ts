import { MAX_CONTENT_TYPE } from "../rules/content_type.ts";
import {
  MAX_DELETE_NAMES,
  MAX_DRIVE_NAME,
  MAX_FILE_NAME,
  MAX_LIST,
  MAX_PROJECT_ID,
} from "../rules/names.ts";
import { MAX_PARTS, MAX_PAYLOAD } from "../rules/payloads.ts";
import { type Json, type Schema, schema } from "./types.ts";

/** An object that has these fields, all but the optional ones always, and no others. */
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

export function listOf(items: Schema, more: Schema = {}): Schema {
  return { type: "array", items, ...more };
}

/** A count of files or bytes. */
export function count(description: string, example: number): Schema {
  return { type: "integer", format: "int64", minimum: 0, description, examples: [example] };
}

const NOT_BLANK = "\\S";

/** The schemas of drives, files and uploads. */
export const fileSchemas: Readonly<Record<string, Schema>> = {
  Errors: closed({
    errors: listOf({ type: "string", minLength: 1 }, {
      minItems: 1,
      description: "Sentences that say what was wrong and what would be right.",
      examples: [['The query parameter "name" is missing: it is required']],
    }),
  }),
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
      `1 to ${MAX_FILE_NAME} bytes of UTF-8, not blank, without NUL and without "/" at the end. Everything else is kept as it is.`,
    minLength: 1,
    maxLength: MAX_FILE_NAME,
    allOf: [{ pattern: NOT_BLANK }, { pattern: "^[^\\u0000]*[^/\\u0000]$" }],
    examples: ["pets/cat.jpg"],
  },
  UploadId: { type: "string", minLength: 1, examples: ["01J9Z3NDEKTSV4RRFFQ69G5FAV"] },
  Time: { type: "string", format: "date-time", examples: ["2021-04-22T11:50:08.123Z"] },
  PartNumber: { type: "integer", minimum: 1, maximum: MAX_PARTS, examples: [1] },

  StoredFile: closed({
    name: schema("FileName"),
    project_id: schema("ProjectId"),
    drive_name: schema("DriveName"),
  }),
  Upload: closed({
    name: schema("FileName"),
    upload_id: schema("UploadId"),
    project_id: schema("ProjectId"),
    drive_name: schema("DriveName"),
  }),
  ReceivedPart: closed({
    name: schema("FileName"),
    upload_id: schema("UploadId"),
    part: schema("PartNumber"),
    project_id: schema("ProjectId"),
    drive_name: schema("DriveName"),
  }),
  UploadState: closed({
    name: schema("FileName"),
    upload_id: schema("UploadId"),
    project_id: schema("ProjectId"),
    drive_name: schema("DriveName"),
    created: schema("Time"),
    expires: schema("Time"),
    parts: listOf(
      closed({
        part: schema("PartNumber"),
        size: { type: "integer", minimum: 0, maximum: MAX_PAYLOAD, description: "Bytes." },
      }),
      {
        maxItems: MAX_PARTS,
        description: "The parts that have arrived, in the order of their numbers.",
      },
    ),
  }),
  UploadList: closed({
    uploads: listOf(
      closed({
        upload_id: schema("UploadId"),
        name: schema("FileName"),
        created: schema("Time"),
        expires: schema("Time"),
      }),
      { maxItems: MAX_LIST },
    ),
    paging: schema("Paging"),
  }, { optional: ["paging"] }),

  Paging: closed({
    size: { type: "integer", minimum: 1, maximum: MAX_LIST, description: "Names in this answer." },
    last: {
      type: "string",
      minLength: 1,
      description: "The last of them: `last` of the next request.",
    },
  }, { description: "Is there if and only if there is a further page." }),
  FileList: closed({
    names: listOf({ type: "string", minLength: 1, maxLength: MAX_FILE_NAME }, {
      maxItems: MAX_LIST,
      uniqueItems: true,
      description: 'In the order of their UTF-8 bytes. A directory ends with "/".',
    }),
    files: listOf({ oneOf: [schema("FileDetails"), schema("DirectoryDetails")] }, {
      maxItems: MAX_LIST,
      description: "With `details=true`: what is known of each of `names`, in the same order.",
    }),
    paging: schema("Paging"),
  }, { optional: ["files", "paging"] }),
  FileDetails: closed({
    name: schema("FileName"),
    size: count("Bytes.", 48_213),
    content_type: { type: "string", maxLength: MAX_CONTENT_TYPE, examples: ["image/jpeg"] },
    etag: {
      type: "string",
      minLength: 1,
      description: "The version, without the quotes of `ETag`.",
    },
    created: schema("Time"),
    modified: schema("Time"),
  }),
  DirectoryDetails: closed({
    name: { type: "string", pattern: "/$", maxLength: MAX_FILE_NAME, examples: ["pets/"] },
  }),
  NamesToDelete: {
    type: "object",
    properties: {
      names: listOf({ type: "string" }, {
        minItems: 1,
        maxItems: MAX_DELETE_NAMES,
        contains: { pattern: NOT_BLANK },
        description: "Not all of them blank. A name that is repeated counts once.",
      }),
    },
    required: ["names"],
    examples: [{ names: ["pets/cat.jpg", "old.txt"] }],
  },
  Deletion: closed({
    deleted: listOf({ type: "string" }, {
      maxItems: MAX_DELETE_NAMES,
      uniqueItems: true,
      description: "In the order of the request; names that did not exist too.",
    }),
    failed: {
      description:
        "Existing files that could not be deleted: their names, or with the server's setting " +
        "`--failed-reasons` an object of name and reason.",
      oneOf: [
        listOf({ type: "string" }, { maxItems: MAX_DELETE_NAMES, uniqueItems: true }),
        { type: "object", additionalProperties: { type: "string" } },
      ],
    },
  }),

  DriveUsage: closed({
    drive_name: schema("DriveName"),
    files: count("Files in the drive.", 12),
    bytes: count("Bytes of all of them.", 1_048_576),
  }),
  DriveList: closed({
    project_id: schema("ProjectId"),
    drives: listOf(schema("DriveUsage")),
  }),
} satisfies Readonly<Record<string, Json>>;

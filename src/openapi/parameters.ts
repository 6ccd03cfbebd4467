import { DEFAULT_USAGE_DAYS, MAX_USAGE_DAYS } from "../rules/lifetimes.ts";
import { MAX_APP_NAME, MAX_FILE_NAME, MAX_LIST, MAX_SEARCHED } from "../rules/names.ts";
import { type Parameter, schema } from "./types.ts";

/** A list of algorithms with their values (RFC 9530, 2). */
const DIGEST = "\\s*[a-z*][a-z0-9_.*-]*=:[A-Za-z0-9+/]*={0,2}:\\s*";
const DIGESTS = `^${DIGEST}(,${DIGEST})*$`;

/** The component that describes each parameter of a route's path. */
export const PATH_PARAMETERS: Readonly<Record<string, string>> = {
  project: "Project",
  drive: "Drive",
  id: "UploadId",
  link: "LinkId",
  session: "SessionId",
  ticket: "TicketToken",
  token: "LinkToken",
  prefix: "KeyPrefix",
  accessKey: "AccessKeyId",
  app: "App",
  name: "AppKeyName",
  file: "PageFile",
};

/** The parameters of requests, by their names in `components`. */
export const parameters: Readonly<Record<string, Parameter>> = {
  Project: {
    name: "project_id",
    in: "path",
    required: true,
    description: "The project's id: the part of its keys before the first `_`.",
    schema: schema("ProjectId"),
  },
  Drive: {
    name: "drive_name",
    in: "path",
    required: true,
    description: "The drive, percent-encoded.",
    schema: schema("DriveName"),
  },
  UploadId: {
    name: "upload_id",
    in: "path",
    required: true,
    description: "The id from the response to the start of the upload.",
    schema: schema("UploadId"),
  },
  LinkId: {
    name: "id",
    in: "path",
    required: true,
    description: "The id of the link.",
    schema: schema("LinkId"),
  },
  LinkToken: {
    name: "token",
    in: "path",
    required: true,
    description: "The last part of the link's address.",
    schema: { type: "string", minLength: 1 },
  },
  SessionId: {
    name: "session_id",
    in: "path",
    required: true,
    description: "The id of the session.",
    schema: { type: "string", minLength: 1 },
  },
  TicketToken: {
    name: "ticket",
    in: "path",
    required: true,
    description: "The last part of the ticket's address.",
    schema: { type: "string", minLength: 1 },
  },
  KeyPrefix: {
    name: "prefix",
    in: "path",
    required: true,
    description: "The first characters of the key, by which it is listed.",
    schema: schema("KeyPrefix"),
  },
  AccessKeyId: {
    name: "access_key_id",
    in: "path",
    required: true,
    description: "The id of the S3 key, by which it is listed.",
    schema: schema("AccessKeyId"),
  },
  App: {
    name: "app",
    in: "path",
    required: true,
    description: `The name of the application: 1 to ${MAX_APP_NAME} characters.`,
    schema: schema("AppName"),
  },
  AppKeyName: {
    name: "name",
    in: "path",
    required: true,
    description: "The name of the key, percent-encoded.",
    schema: schema("Label"),
  },
  PageFile: {
    name: "file",
    in: "path",
    required: true,
    description: "The name of a file, with the hash of its content.",
    schema: { type: "string", minLength: 1, examples: ["main-3f9a1c2b0d4e5f60.js"] },
  },

  RequestId: {
    name: "X-Request-Id",
    in: "header",
    description:
      "An id for this request, repeated in the response and in the server's log. An id that is not 1 to 128 of `A-Z a-z 0-9 . _ ~ : @ / + = -` is replaced.",
    schema: { type: "string" },
  },

  FileName: {
    name: "name",
    in: "query",
    required: true,
    description: "The name of the file.",
    schema: schema("FileName"),
  },
  ExpiresIn: {
    name: "expires_in",
    in: "query",
    description:
      "The number of seconds after which the file expires: from then on it is absent for every call. Without it the file stays until it is deleted.",
    schema: schema("ExpiresIn"),
  },
  Mtime: {
    name: "mtime",
    in: "query",
    description:
      "When the caller's own copy was last modified: a time in UTC, to milliseconds. It is kept with the file and never replaces `modified`.",
    schema: schema("ClientTime"),
  },
  PartNumber: {
    name: "part",
    in: "query",
    required: true,
    description:
      "The number of the part. Parts may be sent in any order and in parallel; a part sent again replaces the earlier one.",
    schema: schema("PartNumber"),
  },
  Limit: {
    name: "limit",
    in: "query",
    description:
      `The maximum number of names in the response. More than ${MAX_LIST} counts as ${MAX_LIST}.`,
    schema: { type: "integer", minimum: 1, default: MAX_LIST },
  },
  Days: {
    name: "days",
    in: "query",
    description: "The number of days in the response.",
    schema: { type: "integer", minimum: 1, maximum: MAX_USAGE_DAYS, default: DEFAULT_USAGE_DAYS },
  },
  Prefix: {
    name: "prefix",
    in: "query",
    description: "Lists only names that start with this. An empty value is ignored.",
    schema: { type: "string", default: "" },
  },
  Contains: {
    name: "contains",
    in: "query",
    description:
      `Lists only names that contain this, ignoring case: at most ${MAX_FILE_NAME} bytes of UTF-8. Names and text are compared by Unicode's default case folding, in NFC. ` +
      `One request looks at ${MAX_SEARCHED} names at most. If names remain, there is \`paging\`, even if the response has fewer than \`limit\` names or none. ` +
      "Not with `recursive=false`. An empty value is ignored.",
    schema: { type: "string", default: "", maxLength: MAX_FILE_NAME },
  },
  Last: {
    name: "last",
    in: "query",
    description:
      "Lists names after this one: `paging.last` of the previous page. An empty value is ignored.",
    schema: { type: "string", default: "" },
  },
  LastUpload: {
    name: "last",
    in: "query",
    description: "Lists uploads after this id: `paging.last` of the previous page.",
    schema: { type: "string", default: "" },
  },
  LastEvent: {
    name: "last",
    in: "query",
    description: "Lists events older than this id: `paging.last` of the previous page.",
    schema: { type: "string", default: "" },
  },
  LastLink: {
    name: "last",
    in: "query",
    description: "Lists links that are older than this id: `paging.last` of the previous page.",
    schema: { type: "string", default: "" },
  },
  LinkFile: {
    name: "name",
    in: "query",
    description:
      "Of a link on a prefix: the file to send, by the rest of its name after the prefix.",
    schema: { type: "string" },
  },
  TicketFile: {
    name: "name",
    in: "query",
    description: "The whole name of the file. Required without `zip`.",
    schema: { type: "string" },
  },
  TicketZip: {
    name: "zip",
    in: "query",
    description: "If it is given: all files as a zip archive of this name.",
    schema: { type: "string" },
  },
  LinkFolder: {
    name: "prefix",
    in: "query",
    description:
      "Of a link on a prefix: the folder to list, by the rest of its name after the prefix.",
    schema: { type: "string", default: "" },
  },
  LinkLast: {
    name: "last",
    in: "query",
    description: "Of a link on a prefix: lists what follows after this name.",
    schema: { type: "string", default: "" },
  },
  LinkPreview: {
    name: "preview",
    in: "query",
    description:
      "If it is given: a page with the file's name, its size and, if browsers show it, its content.",
    schema: { type: "string" },
  },
  LinkDownload: {
    name: "download",
    in: "query",
    description: "If it is given: browsers save the file rather than show it.",
    schema: { type: "string" },
  },
  LinkZip: {
    name: "zip",
    in: "query",
    description: "If it is given, of a link on a prefix: all files of the folder as a zip archive.",
    schema: { type: "string" },
  },
  Recursive: {
    name: "recursive",
    in: "query",
    description:
      "With `false`, names end at the first `/` after the prefix: a directory is listed once, with a trailing `/`.",
    schema: { type: "boolean", default: true },
  },
  Details: {
    name: "details",
    in: "query",
    description:
      "With `true`, the response also has `files`: size, type, version and times of each file.",
    schema: { type: "boolean", default: false },
  },
  Names: {
    name: "names",
    in: "query",
    description: "The names to delete, if the request has no body. May be repeated.",
    style: "form",
    explode: true,
    schema: { type: "array", items: { type: "string" }, maxItems: 1000 },
    example: ["pets/cat.jpg", "old.txt"],
  },
  CallerMethod: {
    name: "method",
    in: "query",
    description:
      "The method of the request to authorize. CORS preflights are allowed only with `OPTIONS` here. `X-Forwarded-Method` is ignored, as some proxies pass on that of the client.",
    schema: { type: "string", examples: ["OPTIONS"] },
  },

  ContentDigest: {
    name: "Content-Digest",
    in: "header",
    description:
      "The SHA-256 of the body, as `sha-256=:<base64>:` (RFC 9530). If it does not match, nothing is stored. Other algorithms are ignored.",
    schema: { type: "string", pattern: DIGESTS },
  },
  IfMatch: {
    name: "If-Match",
    in: "header",
    description: "Proceed only if the file's `ETag` is one of these; `*` matches any.",
    schema: { type: "string" },
  },
  IfNoneMatch: {
    name: "If-None-Match",
    in: "header",
    description: "Proceed only if the file's `ETag` is none of these; `*` matches any.",
    schema: { type: "string" },
  },
  IfModifiedSince: {
    name: "If-Modified-Since",
    in: "header",
    description:
      "Proceed only if the file was written after this time. Ignored together with `If-None-Match`.",
    schema: { type: "string" },
  },
  IfUnmodifiedSince: {
    name: "If-Unmodified-Since",
    in: "header",
    description:
      "Proceed only if the file was not written after this time. Ignored together with `If-Match`.",
    schema: { type: "string" },
  },
  Range: {
    name: "Range",
    in: "header",
    description:
      "One range of bytes, such as `bytes=0-999`. Several ranges, and other units, are ignored.",
    schema: { type: "string" },
  },
  IfRange: {
    name: "If-Range",
    in: "header",
    description:
      "Apply `Range` only if the file has this version, or was last written at this time; otherwise the whole file is sent.",
    schema: { type: "string" },
  },
  KnownPage: {
    name: "If-None-Match",
    in: "header",
    description: "The versions in the caller's cache.",
    schema: { type: "string" },
  },
  AcceptEncoding: {
    name: "Accept-Encoding",
    in: "header",
    description: "With `gzip`, the file is sent compressed.",
    schema: { type: "string" },
  },
};

import { DEFAULT_USAGE_DAYS, MAX_USAGE_DAYS } from "../rules/units.ts";
import { MAX_APP_NAME, MAX_FILE_NAME, MAX_LIST, MAX_SEARCHED } from "../rules/names.ts";
import { schema } from "./schemas.ts";
import type { Parameter, Schema } from "./types.ts";

/** A list of algorithms with their values (RFC 9530, 2). */
const DIGEST = "\\s*[a-z*][a-z0-9_.*-]*=:[A-Za-z0-9+/]*={0,2}:\\s*";
const DIGESTS = `^${DIGEST}(,${DIGEST})*$`;

const TEXT: Schema = { type: "string" };
const NOT_EMPTY: Schema = { type: "string", minLength: 1 };
const EMPTY_BY_DEFAULT: Schema = { type: "string", default: "" };

function inPath(name: string, description: string, schema: Schema): Parameter {
  return { name, in: "path", required: true, description, schema };
}

function inQuery(name: string, description: string, schema = TEXT): Parameter {
  return { name, in: "query", description, schema };
}

function requiredInQuery(name: string, description: string, schema: Schema): Parameter {
  return { name, in: "query", required: true, description, schema };
}

function inHeader(name: string, description: string, schema = TEXT): Parameter {
  return { name, in: "header", description, schema };
}

/** The component that describes each parameter of a route's path. */
export const PATH_PARAMETERS: Readonly<Record<string, ParameterName>> = {
  project: "Project",
  drive: "Drive",
  id: "UploadId",
  link: "LinkId",
  session: "SessionId",
  ticket: "TicketToken",
  token: "LinkToken",
  prefix: "KeyPrefix",
  accessKey: "AccessKeyId",
  webhook: "WebhookId",
  app: "App",
  name: "AppKeyName",
  file: "PageFile",
};

/** The parameters of requests, by their names in `components`. */
export const parameters = {
  Project: inPath(
    "project_id",
    "The project's id: the part of its keys before the first `_`.",
    schema("ProjectId"),
  ),
  Drive: inPath("drive_name", "The drive, percent-encoded.", schema("DriveName")),
  UploadId: inPath(
    "upload_id",
    "The id from the response to the start of the upload.",
    schema("UploadId"),
  ),
  LinkId: inPath("id", "The id of the link.", schema("LinkId")),
  LinkToken: inPath("token", "The last part of the link's address.", NOT_EMPTY),
  SessionId: inPath("session_id", "The id of the session.", NOT_EMPTY),
  TicketToken: inPath("ticket", "The last part of the ticket's address.", NOT_EMPTY),
  KeyPrefix: inPath(
    "prefix",
    "The first characters of the key, by which it is listed.",
    schema("KeyPrefix"),
  ),
  AccessKeyId: inPath(
    "access_key_id",
    "The id of the S3 key, by which it is listed.",
    schema("AccessKeyId"),
  ),
  WebhookId: inPath("id", "The id of the webhook.", schema("WebhookId")),
  App: inPath(
    "app",
    `The name of the application: 1 to ${MAX_APP_NAME} characters.`,
    schema("AppName"),
  ),
  AppKeyName: inPath("name", "The name of the key, percent-encoded.", schema("Label")),
  PageFile: inPath("file", "The name of a file, with the hash of its content.", {
    type: "string",
    minLength: 1,
    examples: ["main-3f9a1c2b0d4e5f60.js"],
  }),

  RequestId: inHeader(
    "X-Request-Id",
    "An id for this request, repeated in the response and in the server's log. An id that is not 1 to 128 of `A-Z a-z 0-9 . _ ~ : @ / + = -` is replaced.",
  ),

  FileName: requiredInQuery("name", "The name of the file.", schema("FileName")),
  ExpiresIn: inQuery(
    "expires_in",
    "The number of seconds after which the file expires: from then on it is absent for every call. Without it the file stays until it is deleted.",
    schema("ExpiresIn"),
  ),
  Mtime: inQuery(
    "mtime",
    "When the caller's own copy was last modified: a time in UTC, to milliseconds. It is kept with the file and never replaces `modified`.",
    schema("ClientTime"),
  ),
  PartNumber: requiredInQuery(
    "part",
    "The number of the part. Parts may be sent in any order and in parallel; a part sent again replaces the earlier one.",
    schema("PartNumber"),
  ),
  Limit: inQuery(
    "limit",
    `The maximum number of names in the response. More than ${MAX_LIST} counts as ${MAX_LIST}.`,
    { type: "integer", minimum: 1, default: MAX_LIST },
  ),
  Days: inQuery("days", "The number of days in the response.", {
    type: "integer",
    minimum: 1,
    maximum: MAX_USAGE_DAYS,
    default: DEFAULT_USAGE_DAYS,
  }),
  Prefix: inQuery(
    "prefix",
    "Lists only names that start with this. An empty value is ignored.",
    EMPTY_BY_DEFAULT,
  ),
  Contains: inQuery(
    "contains",
    `Lists only names that contain this, ignoring case: at most ${MAX_FILE_NAME} bytes of UTF-8. Names and text are compared by Unicode's default case folding, in NFC. ` +
      `One request looks at ${MAX_SEARCHED} names at most. If names remain, there is \`paging\`, even if the response has fewer than \`limit\` names or none. ` +
      "Not with `recursive=false`. An empty value is ignored.",
    { type: "string", default: "", maxLength: MAX_FILE_NAME },
  ),
  Last: inQuery(
    "last",
    "Lists names after this one: `paging.last` of the previous page. An empty value is ignored.",
    EMPTY_BY_DEFAULT,
  ),
  LastUpload: inQuery(
    "last",
    "Lists uploads after this id: `paging.last` of the previous page.",
    EMPTY_BY_DEFAULT,
  ),
  LastEvent: inQuery(
    "last",
    "Lists events older than this id: `paging.last` of the previous page.",
    EMPTY_BY_DEFAULT,
  ),
  Since: inQuery(
    "since",
    "Lists changes after this cursor: the `id` of a change, or the `last` of an earlier response. `0` begins with the oldest " +
      "change that is kept. Without it, the response has no changes, and the present cursor. An empty value is ignored.",
  ),
  HintDrive: inQuery(
    "drive",
    "Tells changes of this drive only. Without it, those of all drives that the key is for.",
  ),
  HintSince: inQuery("since", "The `id` of the last event: an empty value is ignored."),
  ChangeLimit: inQuery(
    "limit",
    `The most changes to list; above ${MAX_LIST} counts as ${MAX_LIST}.`,
    { type: "integer", minimum: 1, default: 100 },
  ),
  Wait: inQuery(
    "wait",
    "If there is no change: how many seconds to wait for one.",
    { type: "integer", minimum: 0, maximum: 60, default: 0 },
  ),
  LastEventId: inHeader(
    "Last-Event-ID",
    "With `Accept: text/event-stream`: the cursor in place of `since`, as browsers send it when they connect again.",
  ),
  LastLink: inQuery(
    "last",
    "Lists links that are older than this id: `paging.last` of the previous page.",
    EMPTY_BY_DEFAULT,
  ),
  LinkFile: inQuery(
    "name",
    "Of a link on a prefix: the file to send, by the rest of its name after the prefix.",
  ),
  TicketFile: inQuery("name", "The whole name of the file. Required without `zip`."),
  TicketZip: inQuery("zip", "If it is given: all files as a zip archive of this name."),
  LinkFolder: inQuery(
    "prefix",
    "Of a link on a prefix: the folder to list, by the rest of its name after the prefix.",
    EMPTY_BY_DEFAULT,
  ),
  LinkLast: inQuery(
    "last",
    "Of a link on a prefix: lists what follows after this name.",
    EMPTY_BY_DEFAULT,
  ),
  LinkPreview: inQuery(
    "preview",
    "If it is given: a page with the file's name, its size and, if browsers show it, its content.",
  ),
  LinkInline: inQuery(
    "inline",
    "If it is given: the file itself, also to a browser that navigates to it.",
  ),
  LinkView: inQuery(
    "view",
    "Of a link on a prefix: with `grid`, the page shows the files as tiles.",
  ),
  LinkThumbnail: inQuery(
    "thumbnail",
    "If it is given: the thumbnail of the file in place of the file. It counts as a download.",
  ),
  LinkDownload: inQuery("download", "If it is given: browsers save the file rather than show it."),
  LinkZip: inQuery(
    "zip",
    "If it is given, of a link on a prefix: all files of the folder as a zip archive.",
  ),
  Recursive: inQuery(
    "recursive",
    "With `false`, names end at the first `/` after the prefix: a directory is listed once, with a trailing `/`.",
    { type: "boolean", default: true },
  ),
  Details: inQuery(
    "details",
    "With `true`, the response also has `files`: size, type, version and times of each file.",
    { type: "boolean", default: false },
  ),
  PartDetails: inQuery(
    "details",
    "With `true`, each part also has its SHA-256, and the response the content type of the upload's start, if it had one.",
    { type: "boolean", default: false },
  ),
  Names: {
    name: "names",
    in: "query",
    description: "The names to delete, if the request has no body. May be repeated.",
    style: "form",
    explode: true,
    schema: { type: "array", items: { type: "string" }, maxItems: 1000 },
    example: ["pets/cat.jpg", "old.txt"],
  },
  CallerMethod: inQuery(
    "method",
    "The method of the request to authorize. CORS preflights are allowed only with `OPTIONS` here. `X-Forwarded-Method` is ignored, as some proxies pass on that of the client.",
    { type: "string", examples: ["OPTIONS"] },
  ),

  ContentDigest: inHeader(
    "Content-Digest",
    "The SHA-256 of the body, as `sha-256=:<base64>:` (RFC 9530). If it does not match, nothing is stored. Other algorithms are ignored.",
    { type: "string", pattern: DIGESTS },
  ),
  IfMatch: inHeader(
    "If-Match",
    "Proceed only if the file's `ETag` is one of these; `*` matches any.",
  ),
  IfNoneMatch: inHeader(
    "If-None-Match",
    "Proceed only if the file's `ETag` is none of these; `*` matches any.",
  ),
  IfModifiedSince: inHeader(
    "If-Modified-Since",
    "Proceed only if the file was written after this time. Ignored together with `If-None-Match`.",
  ),
  IfUnmodifiedSince: inHeader(
    "If-Unmodified-Since",
    "Proceed only if the file was not written after this time. Ignored together with `If-Match`.",
  ),
  Range: inHeader(
    "Range",
    "One range of bytes, such as `bytes=0-999`. Several ranges, and other units, are ignored.",
  ),
  IfRange: inHeader(
    "If-Range",
    "Apply `Range` only if the file has this version, or was last written at this time; otherwise the whole file is sent.",
  ),
  KnownPage: inHeader("If-None-Match", "The versions in the caller's cache."),
  AcceptEncoding: inHeader("Accept-Encoding", "With `gzip`, the file is sent compressed."),
} as const satisfies Readonly<Record<string, Parameter>>;

/** The name of a parameter in `components`. */
export type ParameterName = keyof typeof parameters;

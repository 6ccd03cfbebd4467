import { MAX_APP_NAME, MAX_LIST } from "../rules/names.ts";
import { type Parameter, schema } from "./types.ts";

/** A list of algorithms with their values (RFC 9530, 2). */
const DIGEST = "\\s*[a-z*][a-z0-9_.*-]*=:[A-Za-z0-9+/]*={0,2}:\\s*";
const DIGESTS = `^${DIGEST}(,${DIGEST})*$`;

/** The parameters of requests, by their names in `components`. */
export const parameters: Readonly<Record<string, Parameter>> = {
  Project: {
    name: "project_id",
    in: "path",
    required: true,
    description: "The project: what a key of it begins with, up to the `_`.",
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
    description: "The upload: what its start answered.",
    schema: schema("UploadId"),
  },
  KeyPrefix: {
    name: "prefix",
    in: "path",
    required: true,
    description: "The characters that the key is listed by.",
    schema: schema("KeyPrefix"),
  },
  App: {
    name: "app",
    in: "path",
    required: true,
    description: `The application: 1 to ${MAX_APP_NAME} characters.`,
    schema: schema("AppName"),
  },
  AppKeyName: {
    name: "name",
    in: "path",
    required: true,
    description: "The name of the key, percent-encoded.",
    schema: schema("Label"),
  },
  PageFolder: {
    name: "folder",
    in: "path",
    required: true,
    description: "A folder of the dashboard.",
    schema: { type: "string", minLength: 1, examples: ["core"] },
  },
  PageFile: {
    name: "file",
    in: "path",
    required: true,
    description: "A file in it.",
    schema: { type: "string", minLength: 1, examples: ["main.js"] },
  },

  RequestId: {
    name: "X-Request-Id",
    in: "header",
    description:
      "A name for this request, which the answer and the server's log repeat. One that is not 1 to 128 of `A-Z a-z 0-9 . _ ~ : @ / + = -` is replaced.",
    schema: { type: "string" },
  },

  FileName: {
    name: "name",
    in: "query",
    required: true,
    description: "The name of the file.",
    schema: schema("FileName"),
  },
  PartNumber: {
    name: "part",
    in: "query",
    required: true,
    description:
      "Which part this is. Parts may come in any order and side by side; one that is sent again replaces the earlier.",
    schema: schema("PartNumber"),
  },
  Limit: {
    name: "limit",
    in: "query",
    description:
      `How many names the answer has at the most. More than ${MAX_LIST} counts as ${MAX_LIST}.`,
    schema: { type: "integer", minimum: 1, default: MAX_LIST },
  },
  Prefix: {
    name: "prefix",
    in: "query",
    description: "Only names that begin with this. An empty one is the same as none.",
    schema: { type: "string", default: "" },
  },
  Last: {
    name: "last",
    in: "query",
    description:
      "Where the list goes on: `paging.last` of the page before. An empty one is the same as none.",
    schema: { type: "string", default: "" },
  },
  LastUpload: {
    name: "last",
    in: "query",
    description: "Where the list goes on: `paging.last` of the page before, an upload's id.",
    schema: { type: "string", default: "" },
  },
  Recursive: {
    name: "recursive",
    in: "query",
    description:
      "With `false`, names up to the first `/` behind the prefix: a directory shows once, with its `/`.",
    schema: { type: "boolean", default: true },
  },
  Details: {
    name: "details",
    in: "query",
    description: "With `true`, the answer also has `files`: size, type, version and times of each.",
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
      "The method of the request that the proxy asks about, so that CORS preflights pass.",
    schema: { type: "string", examples: ["OPTIONS"] },
  },

  ContentDigest: {
    name: "Content-Digest",
    in: "header",
    description:
      "The SHA-256 of the body, as `sha-256=:<base64>:` (RFC 9530). Where it is another, nothing is stored. Other algorithms are passed over.",
    schema: { type: "string", pattern: DIGESTS },
  },
  IfMatch: {
    name: "If-Match",
    in: "header",
    description: "Only if the file has one of these versions, as `ETag` tells them; `*` is any.",
    schema: { type: "string" },
  },
  IfNoneMatch: {
    name: "If-None-Match",
    in: "header",
    description: "Only if the file has none of these versions, as `ETag` tells them; `*` is any.",
    schema: { type: "string" },
  },
  IfModifiedSince: {
    name: "If-Modified-Since",
    in: "header",
    description: "Only if the file was written after this. Does not count beside `If-None-Match`.",
    schema: { type: "string" },
  },
  IfUnmodifiedSince: {
    name: "If-Unmodified-Since",
    in: "header",
    description: "Only if the file was not written after this. Does not count beside `If-Match`.",
    schema: { type: "string" },
  },
  Range: {
    name: "Range",
    in: "header",
    description:
      "One range of bytes, as `bytes=0-999`. More than one, and what is no range of bytes, is ignored.",
    schema: { type: "string" },
  },
  IfRange: {
    name: "If-Range",
    in: "header",
    description:
      "`Range` counts only if the file has this version, or was last written at this time; else the whole is sent.",
    schema: { type: "string" },
  },
  KnownPage: {
    name: "If-None-Match",
    in: "header",
    description: "The versions that the caller has.",
    schema: { type: "string" },
  },
  AcceptEncoding: {
    name: "Accept-Encoding",
    in: "header",
    description: "With `gzip`, the file is sent packed.",
    schema: { type: "string" },
  },
};

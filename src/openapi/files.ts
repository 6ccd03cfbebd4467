import { MAX_DELETE_NAMES } from "../rules/names.ts";
import { MAX_PAYLOAD } from "../rules/payloads.ts";
import { forOwner, TAGS } from "./info.ts";
import { bytesBody, type Failures, jsonBody, path, type PathDescription } from "./operation.ts";
import { inJson, plain } from "./responses.ts";
import { header, type HeaderObjects, parameter, type Paths, schema } from "./types.ts";

/** The errors that every call below `/v1` has. */
const ownersFailures: Failures = {
  Unauthorized: "No key, or one that is not known.",
  Forbidden: "The key is of another project.",
  NotFound: "The administrator names a project that there is not.",
  TooManyWrongKeys: "Too many wrong keys came from this network.",
};

/** What all paths below `/v1` have. */
export function ofOwner(tag: string, ...parameters: readonly string[]): PathDescription {
  return {
    tag,
    security: forOwner,
    parameters: parameters.map(parameter),
    forPages: true,
    failures: ownersFailures,
  };
}

/** The errors of a call that writes to a drive. */
export const writingFailures: Failures = {
  Conflict: "The drive is being removed.",
  StorageFull:
    "The disk is full, or it would be more than the project may have: nothing was stored.",
};

/** The errors of a call whose body is stored. */
export const receivingFailures: Failures = {
  BodyTimeout: "The body stopped coming, or came too slowly: nothing was stored.",
  TooLarge: `The body is larger than ${MAX_PAYLOAD} bytes.`,
  Unavailable:
    "Too many uploads are running, of the project or of all; the server is shutting down, or its store cannot be reached.",
};

const fileHeaders: HeaderObjects = {
  "Accept-Ranges": header("AcceptRanges"),
  "Cache-Control": header("FileCacheControl"),
  "ETag": header("ETag"),
  "Last-Modified": header("LastModified"),
  "Content-Security-Policy": header("FilePolicy"),
  "Repr-Digest": header("ReprDigest"),
  "X-Content-Type-Options": header("NoSniff"),
};

const bytes = { "*/*": {} };

const listFiles = {
  id: "listFiles",
  summary: "List files",
  description:
    "Names in the order of their UTF-8 bytes. A drive that nobody has written to lists as empty.",
  parameters: ["Limit", "Prefix", "Last", "Recursive", "Details"].map(parameter),
  success: {
    200: inJson("The names, and `paging` if there is a further page.", "FileList", {
      example: {
        names: ["pets/cat.jpg", "pets/dog.jpg"],
        paging: { size: 2, last: "pets/dog.jpg" },
      },
    }),
  },
};

const putFile = {
  id: "putFile",
  summary: "Store a file",
  description:
    "Stores a file in one request, and replaces one of the same name. The drive need not be there before. " +
    "The file's content type is that of the request, else that which goes with the name, else `application/octet-stream`.",
  parameters: ["FileName", "ContentDigest", "IfMatch", "IfNoneMatch"].map(parameter),
  body: bytesBody(`The bytes of the file, at most ${MAX_PAYLOAD}. None are an empty file.`),
  success: { 201: inJson("The file is on the disk.", "StoredFile") },
  failures: {
    ...writingFailures,
    ...receivingFailures,
    BadRequest:
      "The name is missing or cannot be one, `Content-Digest` is malformed or not that of the body, or the body broke off.",
    PreconditionFailed: "`If-Match` or `If-None-Match` does not hold: nothing was stored.",
  },
};

const deleteFiles = {
  id: "deleteFiles",
  summary: "Delete files",
  description:
    `Deletes 1 to ${MAX_DELETE_NAMES} files, named in the body or in the query, not in both.`,
  parameters: [parameter("Names"), parameter("ContentDigest")],
  body: jsonBody("The names to delete, if there are none in the query.", schema("NamesToDelete"), {
    required: false,
  }),
  success: {
    200: inJson("What is gone, and what could not be deleted.", "Deletion", {
      example: { deleted: ["pets/cat.jpg", "old.txt"], failed: [] },
    }),
  },
  failures: {
    BadRequest:
      "No names, too many, blank ones alone, names in query and body, or a body that is no such JSON.",
    BodyTimeout: "The body stopped coming, or came too slowly: nothing was deleted.",
    TooLarge: "The body is larger than any such list.",
  },
};

const downloadFile = {
  id: "downloadFile",
  summary: "Download a file",
  description: "All bytes of a file, or a range of them, as they were stored.",
  parameters: [
    "FileName",
    "Range",
    "IfRange",
    "IfMatch",
    "IfNoneMatch",
    "IfModifiedSince",
    "IfUnmodifiedSince",
  ].map(parameter),
  success: {
    200: plain("The whole file.", fileHeaders, bytes),
    206: plain("The bytes of the range.", {
      ...fileHeaders,
      "Content-Range": header("ContentRange"),
    }, bytes),
    304: plain("The caller has this version.", fileHeaders),
  },
  failures: {
    BadRequest: "The name is missing or cannot be one.",
    NotFound: "There is no such file, or the administrator names a project that there is not.",
    PreconditionFailed: "`If-Match` or `If-Unmodified-Since` does not hold.",
    RangeNotSatisfiable: "The file does not have the bytes of the range.",
  },
  // "GET is the only method for which range handling is defined" (RFC 9110, 14.2).
  notOfHead: ["206", "416"],
};

export const filePaths: Paths = {
  "/v1/{project_id}": path(ofOwner(TAGS.files, "Project"), {
    get: {
      id: "listDrives",
      summary: "List drives",
      description: "The drives of a project, and what they hold.",
      success: { 200: inJson("All drives.", "DriveList") },
    },
  }),
  "/v1/{project_id}/{drive_name}/files": path(ofOwner(TAGS.files, "Project", "Drive"), {
    get: listFiles,
    post: putFile,
    delete: deleteFiles,
  }),
  "/v1/{project_id}/{drive_name}/files/download": path(ofOwner(TAGS.files, "Project", "Drive"), {
    get: downloadFile,
  }),
};

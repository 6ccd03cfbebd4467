import { MAX_PARTS, MAX_PAYLOAD, MIN_PART } from "../rules/payloads.ts";
import { ofOwner, receivingFailures, writingFailures } from "./files.ts";
import { TAGS } from "./info.ts";
import { bytesBody, path } from "./operation.ts";
import { inJson } from "./responses.ts";
import { parameter, type Paths } from "./types.ts";

const NO_UPLOAD = "There is no such upload in this drive, or not any more.";
const OTHER_NAME = "The name is missing, cannot be one, or is not that of the upload.";
const COMPLETED = "The upload is complete.";

const startUpload = {
  id: "startUpload",
  summary: "Start an upload",
  description:
    "Opens an upload in parts. Nothing is visible under the name before it is completed. " +
    "The file's content type is that of this request, if it names one; else that of part 1.",
  parameters: [parameter("FileName")],
  body: bytesBody("Is not read."),
  success: { 202: inJson("The upload is open.", "Upload") },
  failures: {
    ...writingFailures,
    BadRequest: "The name is missing or cannot be one, or the content type is too long.",
    Conflict:
      "The project has as many uploads open as the server allows: complete or abort one. Or the drive is being removed.",
  },
};

const showUpload = {
  id: "showUpload",
  summary: "Show an upload",
  description: "Which parts have arrived, so that a client can go on after a crash.",
  parameters: [parameter("FileName")],
  success: { 200: inJson("The upload, its parts and its deadline.", "UploadState") },
  failures: { BadRequest: OTHER_NAME, NotFound: NO_UPLOAD, Conflict: COMPLETED },
};

const completeUpload = {
  id: "completeUpload",
  summary: "Complete an upload",
  description:
    `Makes the file of parts 1 to n, of which all but the last have ${MIN_PART} bytes or more. None are an empty file. ` +
    "Completing it again is answered the same, as long as the upload would have lived.",
  parameters: ["FileName", "IfMatch", "IfNoneMatch"].map(parameter),
  success: { 200: inJson("The file is there.", "Upload") },
  failures: {
    ...writingFailures,
    BadRequest: `${OTHER_NAME} Or parts are missing or too small: the upload stays open.`,
    NotFound: NO_UPLOAD,
    PreconditionFailed: "`If-Match` or `If-None-Match` does not hold: the upload stays open.",
  },
};

const abortUpload = {
  id: "abortUpload",
  summary: "Abort an upload",
  description: "Gives an upload up. Afterwards every call on it is 404.",
  parameters: [parameter("FileName")],
  success: { 200: inJson("The upload is gone.", "Upload") },
  failures: {
    BadRequest: OTHER_NAME,
    NotFound: NO_UPLOAD,
    Conflict: COMPLETED,
    StorageFull: "The disk is full.",
  },
};

const putPart = {
  id: "putPart",
  summary: "Send a part",
  parameters: ["FileName", "PartNumber", "ContentDigest"].map(parameter),
  body: bytesBody(
    `The bytes of the part: ${MIN_PART} to ${MAX_PAYLOAD}, of the last part also fewer.`,
  ),
  success: { 200: inJson("The part is on the disk.", "ReceivedPart") },
  failures: {
    ...receivingFailures,
    ...writingFailures,
    BadRequest:
      `${OTHER_NAME} Or the part is none of 1 to ${MAX_PARTS}, \`Content-Digest\` is malformed or not that of ` +
      "the body, or the body broke off.",
    NotFound: NO_UPLOAD,
    Conflict:
      "The upload is complete, or the drive is being removed. An upload that an earlier version of the server started " +
      "may be one too many.",
  },
};

export const uploadPaths: Paths = {
  "/v1/{project_id}/{drive_name}/uploads": path(ofOwner(TAGS.uploads, "Project", "Drive"), {
    get: {
      id: "listUploads",
      summary: "List open uploads",
      parameters: ["Limit", "LastUpload"].map(parameter),
      success: {
        200: inJson("The uploads, and `paging` if there is a further page.", "UploadList"),
      },
    },
    post: startUpload,
  }),
  "/v1/{project_id}/{drive_name}/uploads/{upload_id}": path(
    ofOwner(TAGS.uploads, "Project", "Drive", "UploadId"),
    { get: showUpload, patch: completeUpload, delete: abortUpload },
  ),
  "/v1/{project_id}/{drive_name}/uploads/{upload_id}/parts": path(
    ofOwner(TAGS.uploads, "Project", "Drive", "UploadId"),
    { post: putPart },
  ),
};

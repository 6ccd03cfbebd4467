import { preconditionsOf } from "../../http/responses/send_file.ts";
import { errors } from "../../http/http_error.ts";
import { boundedJson, json, pagingOf } from "../../http/responses/json_response.ts";
import { storeBody } from "../../http/store_body.ts";
import { bytesBody, jsonResponse } from "../../openapi/messages.ts";
import { closed, listOf, schema } from "../../openapi/schemas.ts";
import { MAX_LIST } from "../../rules/names.ts";
import { MAX_PARTS, MAX_PAYLOAD, MIN_PART } from "../../rules/payloads.ts";
import { allowsWrite } from "../../rules/preconditions.ts";
import type { Place } from "../../store/engine/records.ts";
import {
  bodyFailures,
  type DriveCall,
  driveEndpoint,
  placeOf,
  typeFailures,
  typeOf,
  uploadBody,
  writeFailures,
} from "../drive_call.ts";
import type { Deps } from "../endpoint.ts";
import { attributesJson, attributesOf, deadlineJson } from "./attributes.ts";

interface UploadJson {
  name: string;
  upload_id: string;
  project_id: string;
  drive_name: string;
}

/** The upload `id` of the file at `place` as JSON. */
function uploadJson({ project, drive, name }: Place, id: string): UploadJson {
  return { name, upload_id: id, project_id: project, drive_name: drive };
}

/** Sentences that describe the errors of several operations on an upload. */
const uploadFailures = {
  notFound: "The upload does not exist in this drive, or has expired or was aborted.",
  otherName: "The name is missing, invalid, or not that of the upload.",
  completed: "The upload is complete.",
} as const;

/** `POST /uploads`: opens an upload in parts. A body is ignored. */
export const startUpload = driveEndpoint({
  id: "startUpload",
  tag: "Uploads in parts",
  summary: "Start an upload",
  description:
    "Opens an upload in parts. The file becomes visible only when the upload is completed. " +
    "Its content type is that of this request, if it has one, otherwise that of part 1.",
  parameters: ["FileName", "ExpiresIn", "Mtime"],
  body: bytesBody("Ignored."),
  success: {
    202: jsonResponse(
      "The upload is open. `expires` is the deadline of the file if the upload were completed now.",
      "ExpiringUpload",
    ),
  },
  failures: {
    ...writeFailures,
    ...typeFailures,
    BadRequest:
      "The name is missing or invalid, `expires_in` or `mtime` is malformed, or the content type is too long.",
    Conflict:
      "The project has as many open uploads as the server allows: complete or abort one. Or the drive is being removed.",
  },
}, async (call, { store }) => {
  const place = placeOf(call);
  const attributes = attributesOf(call);
  const type = typeOf(call);
  using _reserved = await store.reserveDisk(0);
  const id = await store.uploads.start(place, type, attributes);
  const { lifetime } = attributes;
  const expires = lifetime === undefined ? undefined : Date.now() + lifetime;
  return json(202, { ...uploadJson(place, id), ...deadlineJson(expires) });
});

/** `POST /uploads/{upload_id}/parts`: "`part` (integer, required, starts at 1)". */
export const putPart = driveEndpoint(
  {
    id: "putPart",
    tag: "Uploads in parts",
    summary: "Send a part",
    parameters: ["FileName", "PartNumber", "ContentDigest"],
    body: bytesBody(
      `The bytes of the part: ${MIN_PART} to ${MAX_PAYLOAD}. The last part may have fewer.`,
    ),
    success: { 200: jsonResponse("The part is on disk.", "ReceivedPart") },
    failures: {
      ...bodyFailures,
      ...writeFailures,
      BadRequest:
        `${uploadFailures.otherName} Or the part is not one of 1 to ${MAX_PARTS}, \`Content-Digest\` is malformed or ` +
        "does not match the body, or the body was incomplete.",
      NotFound: uploadFailures.notFound,
      Conflict: "The upload is complete, or the drive is being removed.",
    },
    schemas: {
      ReceivedPart: closed({
        name: schema("FileName"),
        upload_id: schema("UploadId"),
        part: schema("PartNumber"),
        project_id: schema("ProjectId"),
        drive_name: schema("DriveName"),
      }),
    },
  },
  receivePart,
  "upload",
);

async function receivePart(call: DriveCall, deps: Deps): Promise<Response> {
  const { id } = call;
  const place = placeOf(call);
  const part = partOf(call);
  const type = typeOf(call);
  const body = uploadBody(call, deps);
  const { announced, accept } = body;
  const { uploads } = deps.store;
  await storeBody(
    place.project,
    deps,
    body,
    (bytes) => uploads.putPart(place, { id, part, type, announced }, bytes, accept),
  );
  return json(200, { ...uploadJson(place, id), part });
}

/** The part's number. @throws {HttpError} 400 if it is not one of 1 to `MAX_PARTS`. */
function partOf({ query }: DriveCall): number {
  const text = query.required("part");
  const part = /^\d+$/.test(text) ? Number(text) : 0;
  if (part >= 1 && part <= MAX_PARTS) return part;
  throw errors.badParameter("part", text, `a whole number from 1 to ${MAX_PARTS}`);
}

/** Estimated memory for reading and writing one upload with a name of common length, in bytes. */
const UPLOAD_MEMORY = 1024;

/** `GET /uploads`: the open uploads of a drive, paged by `limit` and `last` like the list of files. */
export const listUploads = driveEndpoint({
  id: "listUploads",
  tag: "Uploads in parts",
  summary: "List open uploads",
  parameters: ["Limit", "LastUpload"],
  success: {
    200: jsonResponse("The uploads, and `paging` if there is a next page.", "UploadList"),
  },
  schemas: {
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
  },
}, async (call, deps) => {
  const { project, drive, query, rights: { namePrefix: prefix } } = call;
  const { limit, last } = query.pageOfIds();
  const options = { estimate: limit * UPLOAD_MEMORY, isRepeatable: true };
  return await boundedJson(call, deps, options, async () => {
    const { uploads, more } = await deps.store.uploads.list(project, drive, {
      limit,
      last,
      prefix,
    });
    return {
      uploads: uploads.map(({ id, session }) => ({
        upload_id: id,
        name: session.name,
        created: new Date(session.created).toISOString(),
        expires: new Date(session.expires).toISOString(),
      })),
      ...pagingOf(uploads.map(({ id }) => id), more),
    };
  });
});

/** `GET /uploads/{upload_id}`: the parts that have arrived, so that a client can resume after a crash. */
export const showUpload = driveEndpoint({
  id: "showUpload",
  tag: "Uploads in parts",
  summary: "Show an upload",
  description: "Lists the parts that have arrived, so that a client can resume after a crash.",
  parameters: ["FileName", "PartDetails"],
  success: { 200: jsonResponse("The upload, its parts and its deadline.", "UploadState") },
  failures: {
    BadRequest: uploadFailures.otherName,
    NotFound: uploadFailures.notFound,
    Conflict: uploadFailures.completed,
  },
  schemas: {
    UploadState: closed({
      name: schema("FileName"),
      upload_id: schema("UploadId"),
      project_id: schema("ProjectId"),
      drive_name: schema("DriveName"),
      created: schema("Time"),
      expires: schema("Time"),
      expires_in: schema("ExpiresIn"),
      mtime: schema("ClientTime"),
      content_type: {
        type: "string",
        description: "That of the start of the upload. Only with `details`.",
      },
      parts: listOf(
        closed({
          part: schema("PartNumber"),
          size: { type: "integer", minimum: 0, description: "Bytes." },
          sha256: {
            type: "string",
            pattern: "^[A-Za-z0-9+/]{43}=$",
            description: "The SHA-256 of the part in base64. Only with `details`.",
          },
        }, { optional: ["sha256"] }),
        {
          maxItems: MAX_PARTS,
          description: "The parts that have arrived, in the order of their numbers.",
        },
      ),
    }, { optional: ["expires_in", "mtime", "content_type"] }),
  },
}, async (call, deps) => {
  const place = placeOf(call);
  const details = call.query.flag("details", false);
  return await boundedJson(call, deps, { isRepeatable: true }, async () => {
    const { session, parts } = await deps.store.uploads.get(place, call.id);
    return {
      ...uploadJson(place, call.id),
      created: new Date(session.created).toISOString(),
      expires: new Date(session.expires).toISOString(),
      ...attributesJson(session),
      ...(details && session.type !== undefined ? { content_type: session.type } : {}),
      parts: parts.map(({ part, size, sha256 }) => ({
        part,
        size,
        ...(details ? { sha256 } : {}),
      })),
    };
  });
});

/** `PATCH /uploads/{upload_id}`: "Completes the upload." */
export const completeUpload = driveEndpoint({
  id: "completeUpload",
  tag: "Uploads in parts",
  summary: "Complete an upload",
  description:
    `Makes the file of parts 1 to n, all of which except the last have at least ${MIN_PART} bytes. An upload without ` +
    "parts makes an empty file. A repeated call has the same response until the upload would have expired.",
  parameters: ["FileName", "IfMatch", "IfNoneMatch"],
  success: {
    200: jsonResponse(
      "The file exists. `expires` is its deadline if the start of the upload had `expires_in`.",
      "ExpiringUpload",
    ),
  },
  failures: {
    ...writeFailures,
    BadRequest:
      `${uploadFailures.otherName} Or parts are missing or too small: the upload stays open.`,
    NotFound: uploadFailures.notFound,
    PreconditionFailed: "`If-Match` or `If-None-Match` does not hold: the upload stays open.",
  },
}, async (call, { store }) => {
  const place = placeOf(call);
  const conditions = preconditionsOf(call.request);
  const outcome = await store.uploads.complete(
    place,
    call.id,
    (current) => allowsWrite(conditions, current),
    { accept: call.reauthorize },
  );
  if (outcome === "refused") throw errors.preconditionFailed();
  return json(200, { ...uploadJson(place, call.id), ...deadlineJson(outcome.expires) });
});

/** `DELETE /uploads/{upload_id}`: "Aborts the upload." */
export const abortUpload = driveEndpoint({
  id: "abortUpload",
  tag: "Uploads in parts",
  summary: "Abort an upload",
  description: "Discards an upload. Afterwards every call on it is answered with 404.",
  parameters: ["FileName"],
  success: { 200: jsonResponse("The upload was discarded.", "Upload") },
  failures: {
    BadRequest: uploadFailures.otherName,
    NotFound: uploadFailures.notFound,
    Conflict: uploadFailures.completed,
    StorageFull: "The disk is full.",
  },
}, async (call, { store }) => {
  const place = placeOf(call);
  await store.uploads.abort(place, call.id);
  return json(200, uploadJson(place, call.id));
});

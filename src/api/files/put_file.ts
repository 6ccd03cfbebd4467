import { preconditionsOf } from "../../http/responses/send_file.ts";
import { errors } from "../../http/http_error.ts";
import { json } from "../../http/responses/json_response.ts";
import { storeBody } from "../../http/store_body.ts";
import { bytesBody, jsonResponse } from "../../openapi/messages.ts";
import { closed, schema } from "../../openapi/schemas.ts";
import { contentTypeOf } from "../../rules/content_type.ts";
import { MAX_PAYLOAD } from "../../rules/payloads.ts";
import { allowsWrite, type Validators } from "../../rules/preconditions.ts";
import { validators } from "../../store/files/file_record.ts";
import {
  bodyFailures,
  type DriveCall,
  driveEndpoint,
  placeOf,
  typeOf,
  uploadBody,
  writeFailures,
} from "../drive_call.ts";
import type { Deps } from "../endpoint.ts";
import { attributesOf, deadlineJson } from "./attributes.ts";

/** `POST /files`: "Stores a file in a single request. Overwrites any file with the same name." */
export const putFile = driveEndpoint(
  {
    id: "putFile",
    tag: "Files",
    summary: "Store a file",
    description:
      "Stores a file in one request and replaces an existing file of the same name. The drive need not exist before. " +
      "The content type is that of the request, otherwise derived from the name, otherwise `application/octet-stream`.",
    parameters: ["FileName", "ExpiresIn", "Mtime", "ContentDigest", "IfMatch", "IfNoneMatch"],
    body: bytesBody(
      `The bytes of the file, at most ${MAX_PAYLOAD}. An empty body makes an empty file.`,
    ),
    success: { 201: jsonResponse("The file is on disk.", "StoredFile") },
    failures: {
      ...writeFailures,
      ...bodyFailures,
      BadRequest:
        "The name is missing or invalid, `expires_in` or `mtime` is malformed, `Content-Digest` is malformed or does not match the body, or the body was incomplete.",
      PreconditionFailed: "`If-Match` or `If-None-Match` does not hold: nothing was stored.",
    },
    schemas: {
      StoredFile: closed({
        name: schema("FileName"),
        project_id: schema("ProjectId"),
        drive_name: schema("DriveName"),
        expires: schema("Deadline"),
      }, { optional: ["expires"] }),
    },
  },
  put,
  "upload",
);

async function put(call: DriveCall, deps: Deps): Promise<Response> {
  const { files } = deps.store;
  const place = placeOf(call);
  const type = typeOf(call) ?? contentTypeOf(place.name);
  const attributes = attributesOf(call);
  const conditions = preconditionsOf(call.request);
  const body = uploadBody(call, deps);
  if (conditions.ifMatch !== null || conditions.ifNoneMatch !== null) {
    // The write checks the condition atomically. Checking it here first avoids receiving a body in vain.
    const current = await files.reader.stat(place);
    if (!allowsWrite(conditions, current && validators(current))) throw errors.preconditionFailed();
  }
  const { announced, accept } = body;
  const condition = (current: Validators | undefined) => allowsWrite(conditions, current);
  const stored = await storeBody(
    place.project,
    deps,
    body,
    (bytes) => files.put(place, bytes, { type, ...attributes, announced, condition, accept }),
  );
  if (stored === "refused") throw errors.preconditionFailed();
  const { name, project, drive } = place;
  const file = { name, project_id: project, drive_name: drive };
  return json(201, { ...file, ...deadlineJson(stored.expires) });
}

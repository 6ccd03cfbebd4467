import { errors } from "../../http/http_error.ts";
import { json } from "../../http/responses/json_response.ts";
import { bytesBody, jsonResponse } from "../../openapi/messages.ts";
import { closed, schema } from "../../openapi/schemas.ts";
import { MAX_PARTS, MAX_PAYLOAD, MIN_PART } from "../../rules/payloads.ts";
import {
  bodyFailures,
  type DriveCall,
  driveEndpoint,
  placeOf,
  storeBody,
  typeOf,
  uploadBody,
  writeFailures,
} from "../drive_call.ts";
import type { Deps } from "../endpoint.ts";
import { uploadFailures, uploadJson } from "./uploads.ts";

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
  const { bytes, announced, accept } = body;
  const { uploads } = deps.store;
  await storeBody(
    call,
    deps,
    body,
    () => uploads.putPart(place, { id, part, type, announced }, bytes, accept),
  );
  return json(200, { ...uploadJson(place, id), part });
}

/** The part's number. @throws {HttpError} 400 if it is not one of 1 to `MAX_PARTS`. */
function partOf({ query }: DriveCall): number {
  const text = query.required("part");
  const part = query.positive("part") ?? 0;
  if (part <= MAX_PARTS) return part;
  throw errors.badParameter("part", text, `a whole number from 1 to ${MAX_PARTS}`);
}

import { errors } from "../../http/http_error.ts";
import { json } from "../../http/json_response.ts";
import { TAGS } from "../../openapi/info.ts";
import { jsonResponse } from "../../openapi/responses.ts";
import { parameter } from "../../openapi/types.ts";
import { MIN_PART } from "../../rules/payloads.ts";
import { allowsWrite } from "../../rules/preconditions.ts";
import { driveEndpoint, placeOf, preconditionsOf, writeFailures } from "../drive_call.ts";
import { uploadFailures, uploadJson } from "./upload_json.ts";

/** `PATCH /uploads/{upload_id}`: "Completes the upload." */
export const completeUpload = driveEndpoint({
  id: "completeUpload",
  tag: TAGS.uploads,
  summary: "Complete an upload",
  description:
    `Makes the file of parts 1 to n, all of which except the last have at least ${MIN_PART} bytes. An upload without ` +
    "parts makes an empty file. A repeated call has the same response until the upload would have expired.",
  parameters: ["FileName", "IfMatch", "IfNoneMatch"].map(parameter),
  success: { 200: jsonResponse("The file exists.", "Upload") },
  failures: {
    ...writeFailures,
    BadRequest:
      `${uploadFailures.otherName} Or parts are missing or too small: the upload stays open.`,
    NotFound: uploadFailures.notFound,
    PreconditionFailed: "`If-Match` or `If-None-Match` does not hold: the upload stays open.",
  },
}, async (call, { store }) => {
  const place = placeOf(call);
  const conditions = preconditionsOf(call);
  const outcome = await store.uploads.complete(
    place,
    call.id,
    (current) => allowsWrite(conditions, current),
    call.reauthorize,
  );
  if (outcome === "refused") throw errors.preconditionFailed();
  return json(200, uploadJson(place, call.id));
});

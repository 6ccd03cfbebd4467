import { json } from "../../http/json_response.ts";
import { TAGS } from "../../openapi/info.ts";
import { jsonResponse } from "../../openapi/responses.ts";
import { parameter } from "../../openapi/types.ts";
import { driveEndpoint, placeOf } from "../drive_call.ts";
import { uploadFailures, uploadJson } from "./upload_json.ts";

/** `DELETE /uploads/{upload_id}`: "Aborts the upload." */
export const abortUpload = driveEndpoint({
  id: "abortUpload",
  tag: TAGS.uploads,
  summary: "Abort an upload",
  description: "Discards an upload. Afterwards every call on it is answered with 404.",
  parameters: [parameter("FileName")],
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

import { json } from "../../http/json_response.ts";
import { type DriveCall, placeOf } from "../drive_call.ts";
import type { Deps } from "../router.ts";
import { uploadAnswer } from "./start_upload.ts";

/** `DELETE /uploads/{upload_id}`: "Aborts the upload." */
export async function abortUpload(call: DriveCall, { store }: Deps): Promise<Response> {
  const place = placeOf(call);
  await store.uploads.abort(place, call.id);
  return json(200, uploadAnswer(place, call.id));
}

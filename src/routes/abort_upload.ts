import type { Call } from "../http/drive_call.ts";
import { json } from "../http/json_response.ts";
import type { Deps } from "../http/router.ts";
import { placeOf } from "./file_name.ts";
import { uploadAnswer } from "./upload_answer.ts";

/** `DELETE /uploads/{upload_id}`: "Aborts the upload." */
export async function abortUpload(call: Call, { store }: Deps): Promise<Response> {
  const place = placeOf(call);
  await store.uploads.abort(place, call.id);
  return json(200, uploadAnswer(place, call.id));
}

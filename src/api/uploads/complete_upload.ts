import { errors } from "../../http/http_error.ts";
import { json } from "../../http/json_response.ts";
import { allowsWrite } from "../../rules/preconditions.ts";
import { type DriveCall, placeOf, preconditionsOf } from "../drive_call.ts";
import type { Deps } from "../router.ts";
import { uploadAnswer } from "./start_upload.ts";

/** `PATCH /uploads/{upload_id}`: "Completes the upload." */
export async function completeUpload(call: DriveCall, { store }: Deps): Promise<Response> {
  const place = placeOf(call);
  const asked = preconditionsOf(call.request.headers);
  const outcome = await store.uploads.complete(
    place,
    call.id,
    (current) => allowsWrite(asked, current),
    call.reauthorize,
  );
  if (outcome === "refused") throw errors.preconditionFailed();
  return json(200, uploadAnswer(place, call.id));
}

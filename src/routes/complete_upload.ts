import { allowsWrite } from "../drive/preconditions.ts";
import { preconditionsOf } from "../http/conditional_headers.ts";
import type { Call } from "../http/drive_call.ts";
import { errors } from "../http/http_error.ts";
import { json } from "../http/json_response.ts";
import type { Deps } from "../http/router.ts";
import { placeOf } from "./file_name.ts";
import { uploadAnswer } from "./upload_answer.ts";

/** `PATCH /uploads/{upload_id}`: "Completes the upload." */
export async function completeUpload(call: Call, { store }: Deps): Promise<Response> {
  const place = placeOf(call);
  const asked = preconditionsOf(call.request.headers);
  const outcome = await store.uploads.complete(
    place,
    call.id,
    (current) => allowsWrite(asked, current),
    call.authorizeAgain,
  );
  if (outcome === "refused") throw errors.preconditionFailed();
  return json(200, uploadAnswer(place, call.id));
}

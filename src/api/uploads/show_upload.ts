import { boundedJson } from "../../http/json_response.ts";
import { type DriveCall, placeOf } from "../drive_call.ts";
import type { Deps } from "../router.ts";
import { uploadAnswer } from "./start_upload.ts";

/** `GET /uploads/{upload_id}`: which parts have arrived, so that a client can go on after a crash. */
export async function showUpload(call: DriveCall, deps: Deps): Promise<Response> {
  const place = placeOf(call);
  return await boundedJson(call, deps, { isRepeatable: true }, async () => {
    const { session, parts } = await deps.store.uploads.get(place, call.id);
    return {
      ...uploadAnswer(place, call.id),
      created: new Date(session.created).toISOString(),
      expires: new Date(session.expires).toISOString(),
      parts: parts.map(({ part, size }) => ({ part, size })),
    };
  });
}

import { boundedJson } from "../http/bounded_json.ts";
import type { Call } from "../http/drive_call.ts";
import type { Deps } from "../http/router.ts";
import { placeOf } from "./file_name.ts";
import { uploadAnswer } from "./upload_answer.ts";

/** `GET /uploads/{upload_id}`: which parts have arrived, so that a client can go on after a crash. */
export async function showUpload(call: Call, deps: Deps): Promise<Response> {
  const place = placeOf(call);
  return await boundedJson(call, deps, { isRepeatable: true }, async () => {
    const { session, parts } = await deps.store.uploads.look(place, call.id);
    return {
      ...uploadAnswer(place, call.id),
      created: new Date(session.created).toISOString(),
      expires: new Date(session.expires).toISOString(),
      parts: parts.map(({ part, size }) => ({ part, size })),
    };
  });
}

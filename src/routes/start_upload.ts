import type { Call } from "../http/drive_call.ts";
import { json } from "../http/json_response.ts";
import type { Deps } from "../http/router.ts";
import { placeOf, typeOf } from "./file_name.ts";
import { uploadAnswer } from "./upload_answer.ts";

/** `POST /uploads`: opens an upload in parts. Its body, if any, is of no concern. */
export async function startUpload(call: Call, { store }: Deps): Promise<Response> {
  const place = placeOf(call);
  using _room = await store.demandRoom(0);
  const id = await store.uploads.start(place, typeOf(call));
  return json(202, uploadAnswer(place, id));
}

import { json } from "../../http/json_response.ts";
import type { Place } from "../../store/engine/records.ts";
import { type DriveCall, placeOf, typeOf } from "../drive_call.ts";
import type { Deps } from "../router.ts";

/** What every call on an upload answers. */
export interface UploadAnswer {
  name: string;
  upload_id: string;
  project_id: string;
  drive_name: string;
}

export function uploadAnswer({ project, drive, name }: Place, id: string): UploadAnswer {
  return { name, upload_id: id, project_id: project, drive_name: drive };
}

/** `POST /uploads`: opens an upload in parts. Its body, if any, is of no concern. */
export async function startUpload(call: DriveCall, { store }: Deps): Promise<Response> {
  const place = placeOf(call);
  using _room = await store.reserveDisk(0);
  const id = await store.uploads.start(place, typeOf(call));
  return json(202, uploadAnswer(place, id));
}

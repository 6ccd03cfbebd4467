import { boundedJson, pagingOf } from "../../http/json_response.ts";
import { MAX_LIST } from "../../rules/names.ts";
import type { DriveCall } from "../drive_call.ts";
import type { Deps } from "../router.ts";

/** Bytes that reading an upload and writing it takes, with a name of common length. */
const UPLOAD_MEMORY = 1024;

/** `GET /uploads`: the open uploads of a drive, paged by `limit` and `last` like the list of files. */
export async function listUploads(call: DriveCall, deps: Deps): Promise<Response> {
  const { project, drive, query } = call;
  const limit = Math.min(query.positive("limit") ?? MAX_LIST, MAX_LIST);
  const last = query.one("last") ?? "";
  const making = { estimate: limit * UPLOAD_MEMORY, isRepeatable: true };
  return await boundedJson(call, deps, making, async () => {
    const { uploads, more } = await deps.store.uploads.list(project, drive, { limit, last });
    return {
      uploads: uploads.map(({ id, session }) => ({
        upload_id: id,
        name: session.name,
        created: new Date(session.created).toISOString(),
        expires: new Date(session.expires).toISOString(),
      })),
      ...pagingOf(uploads.map(({ id }) => id), more),
    };
  });
}

import { MAX_LIST } from "../drive/limits.ts";
import { boundedJson } from "../http/bounded_json.ts";
import type { Call } from "../http/drive_call.ts";
import { pagingOf } from "../http/paging.ts";
import type { Deps } from "../http/router.ts";

/** Bytes that reading an upload and writing it takes, with a name of common length. */
const UPLOAD_MEMORY = 1024;

/** `GET /uploads`: the open uploads of a drive, paged by `limit` and `last` like the list of files. */
export async function listUploads(call: Call, deps: Deps): Promise<Response> {
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

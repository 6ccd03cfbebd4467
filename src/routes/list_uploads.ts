import { MAX_LIST } from "../drive/limits.ts";
import type { Call } from "../http/drive_call.ts";
import { json } from "../http/json_response.ts";
import { pagingOf } from "../http/paging.ts";
import type { Deps } from "../http/router.ts";

/** `GET /uploads`: the open uploads of a drive, paged by `limit` and `last` like the list of files. */
export async function listUploads(call: Call, { store }: Deps): Promise<Response> {
  const { project, drive, query } = call;
  const limit = Math.min(query.positive("limit") ?? MAX_LIST, MAX_LIST);
  const last = query.one("last") ?? "";
  const { uploads, more } = await store.uploads.list(project, drive, { limit, last });
  return json(200, {
    uploads: uploads.map(({ id, session }) => ({
      upload_id: id,
      name: session.name,
      created: new Date(session.created).toISOString(),
      expires: new Date(session.expires).toISOString(),
    })),
    ...pagingOf(uploads.map(({ id }) => id), more),
  });
}

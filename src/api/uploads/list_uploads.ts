import { boundedJson, pagingOf } from "../../http/json_response.ts";
import { TAGS } from "../../openapi/info.ts";
import { jsonResponse } from "../../openapi/responses.ts";
import { closed, listOf } from "../../openapi/schemas.ts";
import { parameter, schema } from "../../openapi/types.ts";
import { MAX_LIST } from "../../rules/names.ts";
import { driveEndpoint } from "../drive_call.ts";

/** Estimated memory for reading and writing one upload with a name of common length, in bytes. */
const UPLOAD_MEMORY = 1024;

/** `GET /uploads`: the open uploads of a drive, paged by `limit` and `last` like the list of files. */
export const listUploads = driveEndpoint({
  id: "listUploads",
  tag: TAGS.uploads,
  summary: "List open uploads",
  parameters: ["Limit", "LastUpload"].map(parameter),
  success: {
    200: jsonResponse("The uploads, and `paging` if there is a next page.", "UploadList"),
  },
  schemas: {
    UploadList: closed({
      uploads: listOf(
        closed({
          upload_id: schema("UploadId"),
          name: schema("FileName"),
          created: schema("Time"),
          expires: schema("Time"),
        }),
        { maxItems: MAX_LIST },
      ),
      paging: schema("Paging"),
    }, { optional: ["paging"] }),
  },
}, async (call, deps) => {
  const { project, drive, query } = call;
  const limit = Math.min(query.positive("limit") ?? MAX_LIST, MAX_LIST);
  const last = query.one("last") ?? "";
  const options = { estimate: limit * UPLOAD_MEMORY, isRepeatable: true };
  return await boundedJson(call, deps, options, async () => {
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
});

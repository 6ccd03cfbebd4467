import { boundedJson } from "../../http/json_response.ts";
import { TAGS } from "../../openapi/info.ts";
import { jsonResponse } from "../../openapi/responses.ts";
import { closed, listOf } from "../../openapi/schemas.ts";
import { schema } from "../../openapi/types.ts";
import { driveEndpoint } from "../drive_call.ts";

/** `GET /v1/{project_id}`: the drives of a project with their usage. */
export const listDrives = driveEndpoint({
  id: "listDrives",
  tag: TAGS.files,
  summary: "List drives",
  description: "Lists the drives of a project with their number of files and total size.",
  success: { 200: jsonResponse("All drives.", "DriveList") },
  schemas: {
    DriveList: closed({
      project_id: schema("ProjectId"),
      drives: listOf(schema("DriveUsage")),
    }),
  },
}, (call, deps) =>
  boundedJson(call, deps, { isRepeatable: true }, async () => {
    const drives = await deps.store.drives(call.project);
    return {
      project_id: call.project,
      drives: drives.map(({ name, files, bytes }) => ({ drive_name: name, files, bytes })),
    };
  }));

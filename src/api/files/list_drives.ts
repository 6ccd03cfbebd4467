import { boundedJson } from "../../http/responses/json_response.ts";
import { TAGS } from "../../openapi/info.ts";
import { jsonResponse } from "../../openapi/responses.ts";
import { closed, count, listOf, orNull } from "../../openapi/schemas.ts";
import { schema } from "../../openapi/types.ts";
import { driveEndpoint } from "../drive_call.ts";

/** `GET /v1/{project_id}`: the drives of a project with their usage. */
export const listDrives = driveEndpoint({
  id: "listDrives",
  tag: TAGS.files,
  summary: "List drives",
  description:
    "Lists the drives of a project with their number of files and total size. A key that is limited to some drives " +
    "sees only these. One that is limited to names with a prefix sees `null` for the counts, which would tell about " +
    "other names.",
  success: { 200: jsonResponse("All drives.", "DriveList") },
  schemas: {
    DriveList: closed({
      project_id: schema("ProjectId"),
      drives: listOf(closed({
        drive_name: schema("DriveName"),
        files: orNull(count("The number of files in the drive.", 12)),
        bytes: orNull(count("Their total size.", 1_048_576)),
      })),
    }),
  },
}, (call, deps) =>
  boundedJson(call, deps, { isRepeatable: true }, async () => {
    const { project, rights } = call;
    const drives = await deps.store.drives(project);
    const seesCounts = rights.namePrefix === "";
    return {
      project_id: project,
      drives: drives.filter(({ name }) => rights.allowsDrive(name))
        .map(({ name, files, bytes }) => ({
          drive_name: name,
          files: seesCounts ? files : null,
          bytes: seesCounts ? bytes : null,
        })),
    };
  }));

import { boundedJson } from "../../http/json_response.ts";
import type { DriveCall } from "../drive_call.ts";
import type { Deps } from "../router.ts";

/** `GET /v1/{project_id}`: the drives of a project and what they hold. */
export async function listDrives(call: DriveCall, deps: Deps): Promise<Response> {
  return await boundedJson(call, deps, { isRepeatable: true }, async () => {
    const drives = await deps.store.drives(call.project);
    return {
      project_id: call.project,
      drives: drives.map(({ name, files, bytes }) => ({ drive_name: name, files, bytes })),
    };
  });
}

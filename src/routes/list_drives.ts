import type { Call } from "../http/drive_call.ts";
import { json } from "../http/json_response.ts";
import type { Deps } from "../http/router.ts";

/** `GET /v1/{project_id}`: the drives of a project and what they hold. */
export async function listDrives({ project }: Call, { store }: Deps): Promise<Response> {
  const drives = await store.drives(project);
  return json(200, {
    project_id: project,
    drives: drives.map(({ name, files, bytes }) => ({ drive_name: name, files, bytes })),
  });
}

import { type Api, dataOf } from "../core/api.ts";
import { eachOf } from "./upload/schedule.ts";
import type { ServerCalls, UploadTarget } from "./upload/server_calls.ts";

/** An open upload on the server, and what has arrived of it. */
export interface ServerUpload extends UploadTarget {
  id: string;
  created: string;
  expires: string;
  /** Bytes. */
  received: number;
}

/** Uploads that the list shows. */
const MAX_SHOWN = 200;
/** Requests at once. */
const AT_ONCE = 4;

/** Returns the open uploads of a project, the oldest first. @throws {ApiError} */
export async function openUploads(
  { api, server, project }: { api: Api; server: ServerCalls; project: string },
  signal: AbortSignal,
): Promise<ServerUpload[]> {
  const { drives } = await dataOf(
    api.GET("/v1/{project_id}", { params: { path: { project_id: project } }, signal }),
  );
  const found: ServerUpload[] = [];
  await eachOf(drives, AT_ONCE, async ({ drive_name }) => {
    const { uploads } = await dataOf(
      api.GET("/v1/{project_id}/{drive_name}/uploads", {
        params: { path: { project_id: project, drive_name }, query: { limit: MAX_SHOWN } },
        signal,
      }),
    );
    for (const { upload_id: id, name, created, expires } of uploads) {
      found.push({ project, drive: drive_name, name, id, created, expires, received: 0 });
    }
  });
  found.sort((a, b) => a.created < b.created ? -1 : 1);
  const shown = found.slice(0, MAX_SHOWN);
  const open: ServerUpload[] = [];
  await eachOf(shown, AT_ONCE, async (upload) => {
    const parts = await server.parts(upload, upload.id, signal);
    // It may have been completed or aborted since the list was loaded.
    if (parts === undefined) return;
    upload.received = parts.reduce((sum, { size }) => sum + size, 0);
    open.push(upload);
  });
  return shown.filter((upload) => open.includes(upload));
}

import { type Api, dataOf } from "../core/api.ts";
import { inParallel } from "../core/concurrency.ts";
import { driveNames } from "../files/drive_filter.tsx";
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

/** Returns the open uploads of a project, the oldest first. @throws {ApiError} */
export async function openUploads(
  { api, server, project }: { api: Api; server: ServerCalls; project: string },
  signal: AbortSignal,
): Promise<ServerUpload[]> {
  const drives = await driveNames(api, project, signal);
  const lists = await inParallel(drives, async (drive_name) => {
    const { uploads } = await dataOf(
      api.GET("/v1/{project_id}/{drive_name}/uploads", {
        params: { path: { project_id: project, drive_name }, query: { limit: MAX_SHOWN } },
        signal,
      }),
    );
    return uploads.map(({ upload_id: id, name, created, expires }) => (
      { project, drive: drive_name, name, id, created, expires }
    ));
  });
  const shown = lists.flat().sort((a, b) => a.created < b.created ? -1 : 1).slice(0, MAX_SHOWN);
  const open = await inParallel(shown, async (upload): Promise<ServerUpload | undefined> => {
    const parts = await server.parts(upload, upload.id, signal);
    return parts && { ...upload, received: parts.reduce((sum, { size }) => sum + size, 0) };
  });
  // Some may have been completed or aborted since the list was loaded.
  return open.filter((upload) => upload !== undefined);
}

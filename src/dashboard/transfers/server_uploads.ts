import { type Api, dataOf } from "../core/api.ts";
import { ApiError } from "../core/api_error.ts";
import { eachOf } from "./schedule.ts";
import type { UploadTarget } from "./server_calls.ts";

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
  api: Api,
  project: string,
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
  const over = new Set<ServerUpload>();
  await eachOf(shown, AT_ONCE, async (upload) => {
    try {
      upload.received = await receivedOf(api, upload, signal);
    } catch (error) {
      // It was completed or aborted since the list was loaded.
      if (!(error instanceof ApiError && [404, 409].includes(error.status))) throw error;
      over.add(upload);
    }
  });
  return shown.filter((upload) => !over.has(upload));
}

async function receivedOf(
  api: Api,
  { project, drive, name, id }: ServerUpload,
  signal: AbortSignal,
): Promise<number> {
  const { parts } = await dataOf(
    api.GET("/v1/{project_id}/{drive_name}/uploads/{upload_id}", {
      params: {
        path: { project_id: project, drive_name: drive, upload_id: id },
        query: { name },
      },
      signal,
    }),
  );
  return parts.reduce((sum, { size }) => sum + size, 0);
}

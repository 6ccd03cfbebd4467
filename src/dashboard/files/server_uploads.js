import { eachOf } from "./limiter.js";

/** @import { Api } from "../core/api.js" */
/** @import { OpenUpload } from "../core/types.d.ts" */

/**
 * An open upload on the server, and what has arrived.
 *
 * @typedef {OpenUpload & {drive: string, parts: number, bytes: number}} ServerUpload
 */

/** Maximum uploads in the list; of the others it shows the number. */
export const MAX_SHOWN = 200;

/** Concurrent requests. */
const AT_ONCE = 4;

/**
 * The open uploads of a project, the oldest of each drive first.
 *
 * @param {Pick<Api, "listUploads" | "uploadState">} api
 * @param {string} project
 * @param {readonly string[]} drives
 * @param {AbortSignal} signal
 * @returns {Promise<{uploads: ServerUpload[], hidden: number}>} `hidden`: lower bound of the number of further uploads
 */
export async function serverUploads(api, project, drives, signal) {
  /** @type {Map<string, ServerUpload[]>} */
  const found = new Map(drives.map((drive) => [drive, []]));
  let hidden = 0;
  await eachOf(drives, AT_ONCE, async (drive) => {
    const { uploads } = await api.listUploads(project, drive, { signal });
    hidden += Math.max(0, uploads.length - MAX_SHOWN);
    for (const upload of uploads.slice(0, MAX_SHOWN)) {
      found.get(drive)?.push({ ...upload, drive, parts: 0, bytes: 0 });
    }
  });
  const all = [...found.values()].flat();
  const shown = all.slice(0, MAX_SHOWN);
  /** @type {Set<ServerUpload>} */
  const closed = new Set();
  await eachOf(shown, AT_ONCE, async (upload) => {
    const { drive, upload_id, name } = upload;
    const state = await api.uploadState(project, drive, upload_id, name, signal).catch(isOver);
    if (state === undefined) closed.add(upload);
    upload.parts = state?.parts.length ?? 0;
    upload.bytes = state?.parts.reduce((sum, { size }) => sum + size, 0) ?? 0;
  });
  return {
    uploads: shown.filter((upload) => !closed.has(upload)),
    hidden: hidden + all.length - shown.length,
  };
}

/** It was completed or aborted since the list was loaded. @param {unknown} error @returns {undefined} */
function isOver(error) {
  if (
    error instanceof Error && "status" in error && (error.status === 404 || error.status === 409)
  ) {
    return undefined;
  }
  throw error;
}

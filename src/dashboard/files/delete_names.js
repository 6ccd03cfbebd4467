import { MAX_DELETE_NAMES, PAGE } from "./limits.js";
import { withRetries } from "./retry.js";

/** @import { Api } from "../core/api.js" */

/**
 * All selected files, including every file in the selected folders.
 *
 * @param {Pick<Api, "listFiles">} api
 * @param {{project: string, drive: string}} place
 * @param {readonly string[]} selected folders end with a slash
 * @param {object} options
 * @param {AbortSignal} options.signal
 * @param {(count: number) => void} [options.onProgress]
 * @returns {Promise<string[]>}
 */
export async function selectedFiles(api, place, selected, { signal, onProgress }) {
  const names = new Set(selected.filter((name) => !name.endsWith("/")));
  for (const prefix of selected.filter((name) => name.endsWith("/"))) {
    for await (const page of pagesOf(api, place, prefix, signal)) {
      for (const name of page) names.add(name);
      onProgress?.(names.size);
    }
  }
  return [...names];
}

/**
 * @param {Pick<Api, "listFiles">} api
 * @param {{project: string, drive: string}} place
 * @param {string} prefix
 * @param {AbortSignal} signal
 * @returns {AsyncGenerator<string[]>} all names with the prefix, page by page
 */
async function* pagesOf(api, { project, drive }, prefix, signal) {
  const query = { prefix, limit: PAGE, recursive: true, signal };
  /** @type {import("../core/types.d.ts").FilePage} */
  let page = await withRetries(() => api.listFiles(project, drive, query), { signal });
  yield page.names;
  while (page.paging !== undefined) {
    const { last } = page.paging;
    page = await withRetries(() => api.listFiles(project, drive, { ...query, last }), { signal });
    yield page.names;
  }
}

/**
 * Deletes files, in requests of the largest size that the server accepts.
 *
 * @param {Pick<Api, "deleteFiles">} api
 * @param {{project: string, drive: string}} place
 * @param {readonly string[]} names
 * @param {object} options
 * @param {AbortSignal} options.signal stops before the next request
 * @param {(done: {deleted: string[], failed: string[]}) => void} options.onProgress called after each request
 */
export async function deleteNames(api, { project, drive }, names, { signal, onProgress }) {
  for (let at = 0; at < names.length; at += MAX_DELETE_NAMES) {
    const batch = names.slice(at, at + MAX_DELETE_NAMES);
    const answer = await withRetries(() => api.deleteFiles(project, drive, batch, signal), {
      signal,
    });
    // With --failed-reasons it is an object of reasons.
    const failed = Array.isArray(answer.failed) ? answer.failed : Object.keys(answer.failed);
    onProgress({ deleted: answer.deleted, failed });
  }
}

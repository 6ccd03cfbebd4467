import { PAGE } from "./limits.js";

/** @import { Api } from "../core/api.js" */
/** @import { LoadPage } from "./listing.js" */

/**
 * Fetches the pages of a list: names of a folder or of a whole drive, filtered by prefix.
 *
 * @param {Pick<Api, "listFiles">} api
 * @param {{project: string, drive: string}} place
 * @param {{prefix: string, recursive: boolean}} query
 * @returns {LoadPage}
 */
export function pagesOf(api, { project, drive }, { prefix, recursive }) {
  return async (last, signal) => {
    const options = { prefix, recursive, last, limit: PAGE, signal };
    const { names, files, paging } = await api.listFiles(project, drive, options);
    const entries = files ?? names.map((name) => ({ name }));
    return paging === undefined ? { entries } : { entries, last: paging.last };
  };
}

import { eachOf } from "./limiter.js";

/** @import { Api } from "../core/api.js" */
/** @import { Entry } from "./order.js" */

/**
 * The rows that new files add to a list: the files with their details, or the folders that contain them.
 *
 * @param {Pick<Api, "listFiles">} api
 * @param {{project: string, drive: string}} place
 * @param {readonly string[]} names of files that have been stored
 * @param {object} list
 * @param {string} list.prefix prefix of the names in the list
 * @param {boolean} list.recursive whether the list contains files of subfolders
 * @param {AbortSignal} list.signal
 * @returns {Promise<Entry[]>}
 */
export async function newEntries(api, { project, drive }, names, list) {
  const { prefix, recursive, signal } = list;
  const rows = new Set(
    names.filter((name) => name.startsWith(prefix)).map((name) => {
      const slash = name.indexOf("/", prefix.length);
      return recursive || slash === -1 ? name : name.slice(0, slash + 1);
    }),
  );
  /** @type {Entry[]} */
  const entries = [];
  await eachOf([...rows], 2, async (name) => {
    if (name.endsWith("/")) {
      entries.push({ name });
      return;
    }
    const options = { prefix: name, limit: 1, recursive: true, signal };
    const { files } = await api.listFiles(project, drive, options);
    // The file may be deleted already; the first match can then be another name with the same prefix.
    if (files?.[0]?.name === name) entries.push(files[0]);
  });
  return entries;
}

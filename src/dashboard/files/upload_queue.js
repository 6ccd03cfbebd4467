import { DownloadList } from "./download_list.js";
import { ResumeRecords } from "./resume_records.js";
import { tellEnds } from "./tell_ends.js";
import { UploadList } from "./upload_list.js";

/** @import { Api } from "../core/api.js" */
/** @import { Notices } from "../core/notices.js" */

/** @typedef {ReturnType<typeof createUploads>} Uploads */

/**
 * The uploads of whoever is signed in, and the downloads. They go on while the views come and go.
 *
 * @param {Api} api
 * @param {Notices} notices
 */
export function createUploads(api, notices) {
  const closing = new AbortController();
  const { signal } = closing;
  const list = new UploadList({ api, records: new ResumeRecords(storage()) });
  const downloads = new DownloadList(api, notices);
  tellEnds(list, notices, signal);
  globalThis.addEventListener("beforeunload", (event) => {
    // What is on its way would end; a browser asks in its own words.
    if (list.isActive || downloads.isActive) event.preventDefault();
  }, { signal });
  return {
    list,
    downloads,
    /** @type {UploadList["subscribe"]} */
    subscribe: (listener, until) => list.subscribe(listener, until),
    totals: () => list.totals(),
    /** Stops everything that runs. What the server has of an upload can be resumed. */
    close() {
      closing.abort();
      list.close();
      downloads.close();
    },
  };
}

/** The browser's storage, unless it is switched off. */
function storage() {
  try {
    return globalThis.localStorage;
  } catch {
    return undefined;
  }
}

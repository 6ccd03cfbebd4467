import { DownloadList } from "./download_list.js";
import { ResumeRecords } from "./resume_records.js";
import { notifyFinished } from "./notify_finished.js";
import { UploadList } from "./upload_list.js";

/** @import { Api } from "../core/api.js" */
/** @import { Notices } from "../core/notices.js" */

/** @typedef {ReturnType<typeof createUploads>} Uploads */

/**
 * The uploads and downloads of a session. They continue when the view changes.
 *
 * @param {Api} api
 * @param {Notices} notices
 */
export function createUploads(api, notices) {
  const closing = new AbortController();
  const { signal } = closing;
  const list = new UploadList({ api, records: new ResumeRecords(storage()) });
  const downloads = new DownloadList(api, notices);
  notifyFinished(list, notices, signal);
  globalThis.addEventListener("beforeunload", (event) => {
    // Running transfers would end; the browser asks in its own words.
    if (list.isActive || downloads.isActive) event.preventDefault();
  }, { signal });
  return {
    list,
    downloads,
    /** @type {UploadList["subscribe"]} */
    subscribe: (listener, until) => list.subscribe(listener, until),
    totals: () => list.totals(),
    /** Stops all transfers. Uploads can be resumed. */
    close() {
      closing.abort();
      list.close();
      downloads.close();
    },
  };
}

/** The browser's storage, unless it is disabled. */
function storage() {
  try {
    return globalThis.localStorage;
  } catch {
    return undefined;
  }
}

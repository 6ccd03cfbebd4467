import { formatNumber } from "../core/format.js";

/** @import { Notices } from "../core/notices.js" */
/** @import { UploadList } from "./upload_list.js" */

/**
 * Reports in any view when the last running upload has finished.
 *
 * @param {UploadList} list
 * @param {Notices} notices
 * @param {AbortSignal} signal
 */
export function notifyFinished(list, notices, signal) {
  let wasActive = false;
  let done = 0;
  list.subscribe((stored) => {
    const { isActive } = list;
    done += stored.length;
    if (!isActive && (wasActive || stored.length > 0)) {
      const { failed } = list.totals();
      // The list of uploads shows the reasons; a permanent notice would cover its buttons.
      if (failed > 0) notices.say(`${formatNumber(failed, "file")} could not be uploaded`);
      if (done > 0) notices.say(`${formatNumber(done, "file")} uploaded`);
      done = 0;
    }
    wasActive = isActive;
  }, signal);
}

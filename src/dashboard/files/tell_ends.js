import { formatNumber } from "../core/format.js";

/** @import { Notices } from "../core/notices.js" */
/** @import { UploadList } from "./upload_list.js" */

/**
 * Says when the last of the uploads that ran has come to its end, whatever view is open then.
 *
 * @param {UploadList} list
 * @param {Notices} notices
 * @param {AbortSignal} signal
 */
export function tellEnds(list, notices, signal) {
  let wasActive = false;
  let before = { done: 0, failed: 0 };
  list.subscribe(() => {
    const { isActive } = list;
    const totals = list.totals();
    if (isActive && !wasActive) before = { ...totals, done: totals.done, failed: 0 };
    if (wasActive && !isActive) {
      const done = totals.done - before.done;
      if (totals.failed > 0) {
        notices.fail(`${formatNumber(totals.failed, "file")} could not be uploaded`);
      }
      if (done > 0) notices.say(`${formatNumber(done, "file")} uploaded`);
    }
    wasActive = isActive;
  }, signal);
}

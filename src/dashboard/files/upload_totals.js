/** @import { UploadTask } from "./upload_task.js" */

/**
 * Totals of all uploads of the page.
 *
 * @typedef {object} Totals
 * @property {number} files
 * @property {number} open waiting or running
 * @property {number} done
 * @property {number} failed
 * @property {number} bytes of all files that were not canceled
 * @property {number} sent bytes of them
 * @property {number | undefined} speed bytes a second
 * @property {number | undefined} remaining milliseconds
 */

/**
 * @param {Iterable<UploadTask>} tasks
 * @returns {Totals}
 */
export function totalsOf(tasks) {
  const totals = { files: 0, open: 0, done: 0, failed: 0, bytes: 0, sent: 0 };
  let speed = 0;
  for (const task of tasks) {
    if (task.state === "canceled") continue;
    totals.files++;
    totals.bytes += task.size;
    totals.sent += task.sent;
    if (task.state === "done") totals.done++;
    else if (task.state === "failed") totals.failed++;
    else totals.open++;
    if (task.state === "running") speed += task.speedometer.speed ?? 0;
  }
  const left = totals.bytes - totals.sent;
  return speed > 0
    ? { ...totals, speed, remaining: left / speed * 1000 }
    : { ...totals, speed: undefined, remaining: undefined };
}

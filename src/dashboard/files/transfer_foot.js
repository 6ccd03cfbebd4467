import { h } from "../core/dom.js";
import { formatDuration, formatNumber, formatSpeed } from "../core/format.js";
import { createDownloadRows } from "./download_rows.js";
import { createUploadRows } from "./upload_rows.js";

/** @import { UploadList } from "./upload_list.js" */
/** @import { Uploads } from "./upload_queue.js" */
/** @import { Totals } from "./upload_totals.js" */

/**
 * The transfers of this tab below a folder: a summary, and a collapsible list.
 *
 * @param {Uploads} uploads
 * @param {AbortSignal} signal
 * @returns {HTMLElement}
 */
export function createTransferFoot({ list, downloads }, signal) {
  const line = h("p", { class: "foot-line" });
  const bar = h("progress", { "aria-label": "Progress of all uploads" });
  const rows = h("div", { class: "foot-rows" }, createUploadRows(list, signal));
  const toggle = h("button", { type: "button", class: "small", "aria-expanded": "true" }, "Hide");
  const all = h("button", { type: "button", class: "small" });
  const head = h("div", { class: "foot-head" }, line, h("span", { class: "actions" }, toggle, all));
  const uploads = h("div", { class: "foot-uploads" }, head, bar, rows);
  const element = h(
    "section",
    { class: "transfer-foot", "aria-label": "Transfers of this tab" },
    uploads,
    createDownloadRows(downloads, signal),
  );
  toggle.addEventListener("click", () => {
    rows.hidden = !rows.hidden;
    toggle.setAttribute("aria-expanded", String(!rows.hidden));
    toggle.textContent = rows.hidden ? "Show" : "Hide";
  });
  all.addEventListener("click", () => list.isActive ? list.cancelAll() : clearList(list));
  const render = () => {
    const totals = list.totals();
    const isEmpty = list.tasks.length === 0;
    uploads.hidden = isEmpty;
    // A single upload has its own bar.
    bar.hidden = totals.files < 2;
    element.hidden = isEmpty && !downloads.isActive;
    line.textContent = describe(totals);
    bar.max = Math.max(totals.bytes, 1);
    bar.value = totals.open === 0 && totals.failed === 0 ? bar.max : totals.sent;
    all.textContent = list.isActive ? "Cancel all" : "Clear the list";
  };
  render();
  list.subscribe(render, signal);
  downloads.subscribe(render, signal);
  return element;
}

/** The button disappears with the list: move its focus to the view. @param {UploadList} list */
function clearList(list) {
  list.clear();
  document.getElementById("main")?.focus();
}

/** @param {Totals} totals @returns {string} */
export function describe({ files, open, done, failed, bytes, sent, speed, remaining }) {
  const parts = [];
  if (open > 0) {
    parts.push(`Uploading ${formatNumber(files, "file")}`);
    if (files > 1) parts.push(`${done} done`);
    if (bytes > 0) parts.push(`${Math.floor(sent / bytes * 100)}%`);
    if (speed !== undefined) parts.push(formatSpeed(speed));
    if (remaining !== undefined) {
      parts.push(`${formatDuration(Math.max(1, remaining / 1000))} left`);
    }
  } else if (done > 0) {
    parts.push(`${formatNumber(done, "file")} uploaded`);
  } else if (failed === 0) {
    parts.push("Canceled");
  }
  if (failed > 0) parts.push(`${failed} failed`);
  return parts.join(" · ");
}

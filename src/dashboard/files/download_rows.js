import { fill, h } from "../core/dom.js";
import { formatBytes } from "../core/format.js";
import { icon } from "../core/icon.js";
import { baseName } from "./names.js";

/** @import { Download, DownloadList } from "./download_list.js" */

/**
 * The running downloads, one row each.
 *
 * @param {DownloadList} downloads
 * @param {AbortSignal} signal
 * @param {(download: Download) => boolean} [isIncluded] which of them
 * @returns {HTMLElement}
 */
export function createDownloadRows(downloads, signal, isIncluded = () => true) {
  /** @type {Map<Download, ReturnType<typeof createRow>>} */
  const rows = new Map();
  const items = h("ul", { class: "transfers", "aria-label": "Downloads of this tab" });
  const render = () => {
    const running = downloads.running.filter(isIncluded);
    for (const [download, row] of rows) {
      if (running.includes(download)) continue;
      row.element.remove();
      rows.delete(download);
    }
    for (const download of running) {
      const row = rows.get(download) ?? createRow(download);
      if (!rows.has(download)) items.append(row.element);
      rows.set(download, row);
      row.update();
    }
    items.hidden = running.length === 0;
  };
  render();
  downloads.subscribe(render, signal);
  return items;
}

/** @param {Download} download */
function createRow(download) {
  const { place: { name }, size, stopping } = download;
  const bar = h("progress", { max: Math.max(size, 1), "aria-label": `Progress of ${name}` });
  const state = h("span", { class: "transfer-state" });
  const cancel = h(
    "button",
    { type: "button", class: "small", on: { click: () => stopping.abort() } },
    icon("close"),
    "Cancel",
    h("span", { class: "visually-hidden" }, ` the download of ${name}`),
  );
  const element = h(
    "li",
    { class: "transfer" },
    h("span", { class: "transfer-name" }, icon("download"), " ", baseName(name)),
    h("span", { class: "actions" }, cancel),
    bar,
    state,
  );
  const update = () => {
    bar.value = download.received;
    fill(state, `${formatBytes(download.received)} of ${formatBytes(size)}`);
  };
  return { element, update };
}

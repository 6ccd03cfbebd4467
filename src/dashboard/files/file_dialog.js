import { fill, h } from "../core/dom.js";
import { icon } from "../core/icon.js";
import { isAbort, sentenceOf } from "../core/notices.js";
import { uniqueId } from "../core/unique_id.js";
import { createDownloadRows } from "./download_rows.js";
import { createDetails, readMetadata } from "./file_details.js";
import { baseName } from "./names.js";
import { createPreview } from "./preview.js";

/** @import { Context } from "../core/types.d.ts" */
/** @import { Entry } from "./order.js" */

/**
 * A dialog with a file's preview, details and actions.
 *
 * @param {Pick<Context, "api" | "uploads" | "signal">} context
 * @param {{project: string, drive: string}} drivePlace
 * @param {Entry} entry
 * @returns {Promise<"delete" | undefined>} once closed: "delete" if the file is to be deleted
 */
export function showFile({ api, uploads, signal: leaving }, { project, drive }, entry) {
  const { promise, resolve } = Promise.withResolvers();
  const place = { project, drive, name: entry.name };
  const closing = new AbortController();
  const signal = AbortSignal.any([leaving, closing.signal]);
  const { dialog, main, download, remove, close } = createParts(
    entry.name,
    createDownloadRows(uploads.downloads, signal, ({ place: { name } }) => name === entry.name),
  );
  /** @type {"delete" | undefined} */
  let answer;
  let size = entry.size ?? 0;
  download.addEventListener("click", () => uploads.downloads.start(place, size));
  remove.addEventListener("click", () => {
    answer = "delete";
    dialog.close();
  });
  close.addEventListener("click", () => dialog.close());
  leaving.addEventListener("abort", () => dialog.close(), { signal: closing.signal });
  dialog.addEventListener("close", () => {
    closing.abort();
    dialog.remove();
    resolve(answer);
  });
  document.body.append(dialog);
  dialog.showModal();
  readMetadata(api, place, signal).then((metadata) => {
    size = metadata.size;
    const details = createDetails(place, metadata, entry.created);
    fill(main, createPreview(api, place, metadata, signal), details);
  }).catch((error) => {
    if (!isAbort(error)) fill(main, h("p", { class: "problem", role: "alert" }, sentenceOf(error)));
  });
  return promise;
}

/** @param {string} name @param {HTMLElement} downloads */
function createParts(name, downloads) {
  const id = uniqueId("file");
  const main = h("div", { class: "file-main" }, h("p", { class: "loading" }, "Loading…"));
  const download = button("download", "Download");
  const remove = button("delete", "Delete");
  const close = button("close", "Close");
  const title = h("h2", { id }, h("bdi", {}, baseName(name)));
  const actions = h("div", { class: "actions" }, download, remove, close);
  const head = h("div", { class: "file-head" }, title, actions);
  const named = { class: "file-dialog", "aria-labelledby": id };
  const dialog = h("dialog", named, head, downloads, main);
  return { dialog, main, download, remove, close };
}

/** @param {"download" | "delete" | "close"} picture @param {string} label */
function button(picture, label) {
  return h("button", { type: "button" }, icon(picture), label);
}

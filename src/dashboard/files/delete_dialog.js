import { fill, h } from "../core/dom.js";
import { formatCount, formatNumber } from "../core/format.js";
import { isAbort, sentenceOf } from "../core/notices.js";
import { uniqueId } from "../core/unique_id.js";
import { deleteNames, selectedFiles } from "./delete_names.js";

/** @import { Api } from "../core/api.js" */

/** Number of failed names that are listed. */
const SHOWN = 20;

/**
 * Result of a deletion, and whether all selected files are deleted.
 *
 * @typedef {{deleted: Set<string>, failed: string[], isComplete: boolean}} Deletion
 */

/**
 * Counts the selected files, asks, deletes them and shows progress. It can be stopped between two requests.
 *
 * @param {Api} api
 * @param {{project: string, drive: string}} place
 * @param {readonly string[]} selected folders end with a slash
 * @param {AbortSignal} leaving
 * @returns {Promise<Deletion>}
 */
export function confirmAndDelete(api, place, selected, leaving) {
  const { promise, resolve } = Promise.withResolvers();
  const stopping = new AbortController();
  const signal = AbortSignal.any([leaving, stopping.signal]);
  /** @type {Deletion} */
  const result = { deleted: new Set(), failed: [], isComplete: false };
  const parts = createParts();
  const { dialog, cancel, run } = parts;
  cancel.addEventListener("click", () => dialog.close());
  dialog.addEventListener("close", () => {
    stopping.abort();
    dialog.remove();
    resolve(result);
  });
  leaving.addEventListener("abort", () => dialog.close(), { signal: stopping.signal });
  const names = count(api, place, selected, signal, parts);
  run.addEventListener("click", async () => {
    await deleteAll(api, place, await names, { signal, parts, result });
    if (result.isComplete) dialog.close();
  });
  document.body.append(dialog);
  dialog.showModal();
  return promise;
}

/** @typedef {ReturnType<typeof createParts>} Parts */

function createParts() {
  const id = uniqueId("delete");
  const title = h("h2", { id }, "Delete");
  const text = h("div", { class: "dialog-text", "aria-live": "polite" });
  const bar = h("progress", { hidden: true, "aria-label": "Progress of the deletion" });
  const problem = h("div", { class: "problem", role: "alert" });
  const cancel = h("button", { type: "button" }, "Cancel");
  const run = h("button", { type: "button", class: "danger", disabled: true }, "Delete");
  const actions = h("div", { class: "actions" }, cancel, run);
  const body = h("div", { class: "stack" }, text, bar, problem, actions);
  const dialog = h("dialog", { "aria-labelledby": id }, title, body);
  return { dialog, title, text, bar, problem, cancel, run };
}

/**
 * @param {Api} api @param {{project: string, drive: string}} place @param {readonly string[]} selected
 * @param {AbortSignal} signal @param {Parts} parts
 * @returns {Promise<string[]>}
 */
async function count(api, place, selected, signal, { title, text, problem, run }) {
  try {
    fill(text, "Counting the files…");
    const names = await selectedFiles(api, place, selected, {
      signal,
      onProgress: (found) => fill(text, `Counting the files: ${formatCount(found)} so far…`),
    });
    const folders = selected.filter((name) => name.endsWith("/"));
    const what = formatNumber(names.length, "file");
    const inside = folders.length === 0
      ? ""
      : `, including everything in ${formatNumber(folders.length, "folder")}`;
    title.textContent = `Delete ${what}?`;
    const only = selected.length === 1 ? `“${selected[0]}”: ` : "";
    fill(text, `${only}${what} will be deleted${inside}. This cannot be undone.`);
    run.textContent = `Delete ${what}`;
    run.disabled = names.length === 0;
    return names;
  } catch (error) {
    if (!isAbort(error)) problem.textContent = sentenceOf(error);
    return [];
  }
}

/**
 * @param {Api} api @param {{project: string, drive: string}} place @param {readonly string[]} names
 * @param {{signal: AbortSignal, parts: Parts, result: Deletion}} run
 */
async function deleteAll(api, place, names, { signal, parts, result }) {
  const { text, bar, problem, cancel, run } = parts;
  const left = names.filter((name) => !result.deleted.has(name));
  run.disabled = true;
  cancel.textContent = "Stop";
  cancel.focus();
  bar.hidden = false;
  bar.max = names.length;
  problem.textContent = "";
  result.failed = [];
  try {
    await deleteNames(api, place, left, {
      signal,
      onProgress: ({ deleted, failed }) => {
        for (const name of deleted) result.deleted.add(name);
        result.failed.push(...failed);
        bar.value = result.deleted.size + result.failed.length;
        fill(
          text,
          `${formatCount(result.deleted.size)} of ${formatNumber(names.length, "file")} deleted`,
        );
      },
    });
    showFailed(problem, result.failed);
    result.isComplete = result.failed.length === 0;
  } catch (error) {
    if (!isAbort(error)) problem.textContent = sentenceOf(error);
  } finally {
    cancel.textContent = "Close";
    run.textContent = "Try again";
    run.disabled = false;
  }
}

/** @param {HTMLElement} problem @param {readonly string[]} failed */
function showFailed(problem, failed) {
  if (failed.length === 0) return;
  const more = failed.length - SHOWN;
  fill(
    problem,
    h("p", {}, `${formatNumber(failed.length, "file")} could not be deleted:`),
    h("ul", { class: "names" }, failed.slice(0, SHOWN).map((name) => h("li", {}, name))),
    more > 0 ? h("p", {}, `and ${formatCount(more)} more`) : null,
  );
}

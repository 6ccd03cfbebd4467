import { h } from "../core/dom.js";
import { formatNumber } from "../core/format.js";
import { icon } from "../core/icon.js";
import { newEntries } from "./new_entries.js";
import { createBreadcrumb } from "./breadcrumb.js";
import { confirmAndDelete } from "./delete_dialog.js";
import { acceptDrops } from "./drop_target.js";
import { showFile } from "./file_dialog.js";
import { FolderList } from "./folder_list.js";
import { baseName } from "./names.js";
import { createSearchField } from "./search_field.js";
import { createTransferFoot } from "./transfer_foot.js";
import { createUploadButtons } from "./upload_buttons.js";
import { uploadTo } from "./upload_to.js";

/** @import { Context, View } from "../core/types.d.ts" */
/** @import { ChosenFile } from "./dropped_files.js" */
/** @import { Entry } from "./order.js" */

/**
 * The view of a folder: list, upload, open and delete.
 *
 * @param {Context} context
 * @param {{project: string, drive: string, folder: string}} place
 * @returns {View}
 */
export function openFolder(context, place) {
  const { notices, uploads, signal } = context;
  const { project, drive, folder } = place;
  const status = h("p", { class: "hint", role: "status" });
  const showStatus = (/** @type {string} */ sentence) => status.textContent = sentence;
  const upload = (/** @type {ChosenFile[]} */ chosen) =>
    uploadTo(context, place, chosen, showStatus).then(() => {}, notices.fail);
  const list = createList(context, place, upload);
  const selected = createSelectionBar(list.value, () => removeSelected(context, place, list.value));
  list.onSelect = selected.update;
  const element = h(
    "div",
    { class: "view files-view" },
    createBreadcrumb(project, drive, folder),
    h(
      "div",
      { class: "head" },
      h("h1", {}, h("bdi", {}, folder === "" ? drive : baseName(folder) || "(no name)")),
      createUploadButtons(upload),
    ),
    h("div", { class: "head" }, createSearchField((search) => list.value.search(search))),
    selected.element,
    status,
    list.value.element,
    createTransferFoot(uploads, signal),
  );
  acceptDrops(element, { signal, showStatus, onDrop: upload, onProblem: notices.fail });
  followUploads(context, place, list.value);
  return { title: `${folder === "" ? drive : baseName(folder)} · ${project}`, element };
}

/**
 * @param {Context} context @param {{project: string, drive: string, folder: string}} place
 * @param {(chosen: ChosenFile[]) => void} upload
 */
function createList(context, place, upload) {
  const list = {
    onSelect: () => {},
    value: new FolderList(context.api, place, {
      onOpen: (entry) => openFile(context, place, list.value, entry),
      onSelect: () => list.onSelect(),
      onDelete: () => removeSelected(context, place, list.value),
      whatToDo: () =>
        h(
          "div",
          { class: "stack" },
          h(
            "p",
            {},
            "This folder is empty. Drop files or folders onto this page, or choose them:",
          ),
          createUploadButtons(upload, { isPrimary: false }),
        ),
    }, context.signal),
  };
  return list;
}

/**
 * The toolbar above the list during a selection.
 *
 * @param {FolderList} list @param {() => void} onDelete
 */
function createSelectionBar(list, onDelete) {
  const text = h("p", { role: "status" });
  const element = h(
    "div",
    { class: "selection-bar", hidden: true },
    text,
    h(
      "span",
      { class: "actions" },
      h(
        "button",
        { type: "button", class: "small", on: { click: () => list.selectAll() } },
        "Select all loaded",
      ),
      h(
        "button",
        { type: "button", class: "small", on: { click: () => clear() } },
        "Clear selection",
      ),
      h(
        "button",
        { type: "button", class: "small danger", on: { click: onDelete } },
        icon("delete"),
        "Delete…",
      ),
    ),
  );
  const clear = () => {
    list.clearSelection();
    list.focus();
  };
  const update = () => {
    const { size } = list.selection;
    element.hidden = size === 0;
    text.textContent = `${formatNumber(size, "entry", "entries")} selected`;
  };
  return { element, update };
}

/**
 * @param {Context} context @param {{project: string, drive: string}} place @param {FolderList} list
 * @param {Entry} entry
 */
async function openFile(context, place, list, entry) {
  const answer = await showFile(context, place, entry);
  if (answer === "delete") await remove(context, place, list, [entry.name]);
  else if (!context.signal.aborted) list.focus();
}

/** @param {Context} context @param {{project: string, drive: string}} place @param {FolderList} list */
async function removeSelected(context, place, list) {
  await remove(context, place, list, list.selection.names);
}

/**
 * @param {Context} context @param {{project: string, drive: string}} place @param {FolderList} list
 * @param {string[]} names
 */
async function remove({ api, notices, signal }, place, list, names) {
  const { deleted, isComplete } = await confirmAndDelete(api, place, names, signal);
  if (signal.aborted) return;
  if (deleted.size > 0) notices.say(`${formatNumber(deleted.size, "file")} deleted`);
  const hasFolder = names.some((name) => name.endsWith("/"));
  if (isComplete) list.remove(new Set(names));
  // The content of a partly deleted folder is unknown.
  else if (hasFolder && deleted.size > 0) list.reload();
  else list.remove(deleted);
  list.focus();
}

/** Adds uploaded files to the list. @param {Context} context @param {{project: string, drive: string}} place @param {FolderList} list */
function followUploads({ api, uploads, notices, signal }, place, list) {
  uploads.subscribe((stored) => {
    const names = stored.map((task) => task.place)
      .filter(({ project, drive }) => project === place.project && drive === place.drive)
      .map(({ name }) => name);
    if (names.length === 0) return;
    const { query } = list;
    newEntries(api, place, names, { ...query, signal }).then((entries) => {
      if (entries.length > 0 && query.prefix === list.query.prefix) list.put(entries);
    }, notices.fail);
  }, signal);
}

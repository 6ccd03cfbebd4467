import { asyncBlock } from "../core/async_block.js";
import { confirm } from "../core/dialog.js";
import { h } from "../core/dom.js";
import { formatBytes, formatCount, formatNumber, formatShare } from "../core/format.js";
import { icon } from "../core/icon.js";
import { links } from "../core/links.js";
import { createTable } from "../core/table.js";
import { createNewDrive } from "./new_drive.js";
import { createTransferFoot } from "./transfer_foot.js";

/** @import { Column } from "../core/table.js" */
/** @import { Context, Drive, View } from "../core/types.d.ts" */

/**
 * The drives of a project.
 *
 * @param {Context} context
 * @param {string} project
 * @returns {View}
 */
export function openDrives(context, project) {
  const { api, signal, uploads } = context;
  const block = asyncBlock(async () => {
    const { drives } = await api.listDrives(project, signal);
    return listOf(drives, (drive) => remove(context, project, drive, block.reload), project);
  });
  uploads.subscribe((stored) => {
    if (stored.some(({ place }) => place.project === project)) block.reload();
  }, signal);
  const element = h(
    "div",
    { class: "view" },
    h("h1", {}, "Drives"),
    block.element,
    createNewDrive(context, project),
    createTransferFoot(uploads, signal),
  );
  return { title: `Drives of ${project}`, element };
}

/** @param {Drive[]} drives @param {(drive: Drive) => void} onDelete @param {string} project */
function listOf(drives, onDelete, project) {
  const all = drives.reduce((sum, { bytes }) => sum + bytes, 0);
  return createTable({
    caption: "Drives",
    rows: drives,
    sort: { key: "name", isDown: false },
    empty: h("p", {}, EMPTY),
    columns: columnsOf(project, all, onDelete),
  }).element;
}

/**
 * @param {string} project @param {number} all bytes of all drives @param {(drive: Drive) => void} onDelete
 * @returns {Column<Drive>[]}
 */
function columnsOf(project, all, onDelete) {
  return [
    {
      key: "name",
      label: "Drive",
      isHeading: true,
      value: ({ drive_name }) => drive_name,
      cell: ({ drive_name }) => linkTo(project, drive_name),
    },
    {
      key: "files",
      label: "Files",
      isNumber: true,
      value: ({ files }) => files,
      cell: ({ files }) => formatCount(files),
    },
    {
      key: "bytes",
      label: "Size",
      isNumber: true,
      value: ({ bytes }) => bytes,
      cell: ({ bytes }) => formatBytes(bytes),
    },
    {
      key: "share",
      label: "Share of the project",
      cell: ({ bytes }) => shareOf(bytes, all),
    },
    {
      key: "actions",
      label: "Actions",
      isQuiet: true,
      cell: (drive) => deleteButton(drive, onDelete),
    },
  ];
}

/** @param {string} project @param {string} drive */
function linkTo(project, drive) {
  const href = links.files(project, drive);
  return h("a", { href, class: "drive-link" }, icon("drive"), h("bdi", {}, drive));
}

const EMPTY =
  "This project has no files yet. Choose a name for its first drive below, and upload " +
  "files into it.";

/** @param {number} bytes @param {number} all */
function shareOf(bytes, all) {
  const share = all === 0 ? 0 : bytes / all * 100;
  const style = { "--share": `${share}%`, "--least": bytes > 0 ? "2px" : "0" };
  return h(
    "div",
    { class: "usage" },
    h("span", { class: "bar", style }),
    h("span", { class: "usage-text" }, formatShare(bytes, all)),
  );
}

/** @param {Drive} drive @param {(drive: Drive) => void} onDelete */
function deleteButton(drive, onDelete) {
  return h(
    "div",
    { class: "row-actions" },
    h(
      "button",
      { type: "button", class: "small", on: { click: () => onDelete(drive) } },
      icon("delete"),
      "Delete",
      h("span", { class: "visually-hidden" }, ` the drive ${drive.drive_name}`),
    ),
  );
}

/**
 * @param {Context} context @param {string} project @param {Drive} drive
 * @param {() => Promise<void>} reload
 */
async function remove({ api, notices }, project, drive, reload) {
  const { drive_name, files, bytes } = drive;
  const isDone = await confirm({
    title: `Delete the drive “${drive_name}”?`,
    text: `${formatNumber(files, "file")} with ${formatBytes(bytes)} will be deleted. ` +
      "This cannot be undone.",
    action: "Delete the drive",
    typed: drive_name,
    run: () => api.deleteDrive(project, drive_name),
  });
  if (!isDone) return;
  notices.say(`The drive “${drive_name}” is deleted`);
  await reload();
}

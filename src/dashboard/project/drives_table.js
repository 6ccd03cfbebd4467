import { busy } from "../core/busy.js";
import { confirm } from "../core/dialog.js";
import { h } from "../core/dom.js";
import { formatBytes, formatCount, formatNumber } from "../core/format.js";
import { links } from "../core/links.js";
import { createTable } from "../core/table.js";
import { usageBar } from "../core/usage_bar.js";

/** @import { Column } from "../core/table.js" */
/** @import { Context, Drive, ProjectDetails } from "../core/types.d.ts" */

/**
 * The usage of each drive of a project.
 *
 * @param {Context} context
 * @param {ProjectDetails} details
 * @param {() => Promise<void>} reload
 * @returns {HTMLElement}
 */
export function drivesTable(context, details, reload) {
  const { project_id } = details;
  return createTable({
    caption: "Drives and their usage",
    columns: [...figuresOf(details), {
      key: "actions",
      label: "Actions",
      isQuiet: true,
      cell: (drive) => actionsOf(context, project_id, drive, reload),
    }],
    rows: details.drives,
    empty: [
      h("p", {}, "No drives yet. The first upload to a drive creates it."),
      h("a", { href: links.drives(project_id) }, "Upload a first file"),
    ],
    sort: { key: "drive", isDown: false },
  }).element;
}

/** @param {ProjectDetails} details @returns {Column<Drive>[]} */
function figuresOf({ project_id, disk, bytes: all }) {
  return [
    {
      key: "drive",
      label: "Drive",
      isHeading: true,
      value: ({ drive_name }) => drive_name,
      cell: ({ drive_name }) => h("a", { href: links.files(project_id, drive_name) }, drive_name),
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
    { key: "share", label: "Share", cell: ({ bytes }) => usageBar(bytes, disk, all) },
  ];
}

/** @param {Context} context @param {string} project @param {Drive} drive @param {() => Promise<void>} reload */
function actionsOf({ api, notices }, project, { drive_name, files, bytes }, reload) {
  const click = busy(notices, async () => {
    const isDeleted = await confirm({
      title: `Delete drive ${drive_name}?`,
      text: h(
        "p",
        {},
        `Its ${formatNumber(files, "file")} (${
          formatBytes(bytes)
        }) and its uploads in progress will be deleted. This cannot be undone.`,
      ),
      action: "Delete drive",
      typed: drive_name,
      run: () => api.deleteDrive(project, drive_name),
    });
    if (!isDeleted) return;
    notices.say(`The drive ${drive_name} is deleted`);
    await reload();
  });
  const hidden = h("span", { class: "visually-hidden" }, ` drive ${drive_name}`);
  return h(
    "div",
    { class: "row-actions" },
    h("button", { type: "button", class: "small", on: { click } }, "Delete", hidden),
  );
}

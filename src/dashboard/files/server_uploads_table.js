import { confirm } from "../core/dialog.js";
import { h } from "../core/dom.js";
import { formatAge, formatBytes, formatNumber, formatShare, formatTime } from "../core/format.js";
import { icon } from "../core/icon.js";
import { createTable } from "../core/table.js";
import { createResumeButton } from "./resume_button.js";

/** @import { Column } from "../core/table.js" */
/** @import { Context } from "../core/types.d.ts" */
/** @import { ServerUpload } from "./server_uploads.js" */

/**
 * The table of open uploads on the server, with actions.
 *
 * @param {Context} context
 * @param {string} project
 * @param {() => void} onAbort
 */
export function createServerUploadsTable(context, project, onAbort) {
  return createTable({
    caption: "Uploads in progress on the server",
    /** @type {ServerUpload[]} */
    rows: [],
    sort: { key: "age", isDown: false },
    empty: h("p", {}, EMPTY),
    columns: columnsOf(context, project, onAbort),
  });
}

/**
 * @param {Context} context @param {string} project @param {() => void} onAbort
 * @returns {Column<ServerUpload>[]}
 */
function columnsOf(context, project, onAbort) {
  const { records } = context.uploads.list;
  return [
    {
      key: "name",
      label: "File",
      isHeading: true,
      value: ({ name }) => name,
      cell: ({ name }) => h("bdi", {}, name),
    },
    { key: "drive", label: "Drive", value: ({ drive }) => drive, cell: ({ drive }) => drive },
    {
      key: "age",
      label: "Started",
      value: ({ created }) => Date.parse(created),
      cell: ({ created }) => ageOf(created),
    },
    {
      key: "parts",
      label: "Received",
      value: ({ bytes }) => bytes,
      cell: (upload) => received(upload, records.byId(upload.upload_id)?.size),
    },
    {
      key: "expires",
      label: "Expires",
      value: ({ expires }) => Date.parse(expires),
      cell: ({ expires }) => ageOf(expires),
    },
    {
      key: "actions",
      label: "Actions",
      isQuiet: true,
      cell: (upload) => actions(context, project, upload, onAbort),
    },
  ];
}

/** @param {string} time */
function ageOf(time) {
  return h("span", { title: formatTime(time) }, formatAge(time));
}

const EMPTY =
  "No upload is in progress. Files above 10 MB are uploaded in parts and are listed here " +
  "until they are complete, also after the page was closed.";

/** @param {ServerUpload} upload @param {number | undefined} size of the file, if this browser started it */
function received({ parts, bytes }, size) {
  const text = `${formatNumber(parts, "part")}, ${formatBytes(bytes)}`;
  if (size === undefined) return text;
  const style = { "--share": `${Math.min(100, bytes / size * 100)}%` };
  return h(
    "div",
    { class: "usage" },
    h("span", { class: "bar", style }),
    h(
      "span",
      { class: "usage-text" },
      `${text} of ${formatBytes(size)} (${formatShare(bytes, size)})`,
    ),
  );
}

/** @param {Context} context @param {string} project @param {ServerUpload} upload @param {() => void} onAbort */
function actions(context, project, upload, onAbort) {
  const { list } = context.uploads;
  const { upload_id, name } = upload;
  const task = list.tasks.find(({ uploadId }) => uploadId === upload_id);
  if (task !== undefined && !task.isOver) return h("span", { class: "tag" }, "Running in this tab");
  const record = list.records.byId(upload_id);
  const resume = record === undefined
    ? h("span", { class: "soft small-text" }, "Started elsewhere")
    : createResumeButton(record, list, context.notices.fail);
  const abort = h(
    "button",
    { type: "button", class: "small" },
    icon("delete"),
    "Abort",
    h("span", { class: "visually-hidden" }, ` the upload of ${name}`),
  );
  abort.addEventListener("click", () => confirmAndAbort(context, project, upload, onAbort));
  return h("div", { class: "row-actions" }, resume, abort);
}

/** @param {Context} context @param {string} project @param {ServerUpload} upload @param {() => void} onAbort */
async function confirmAndAbort({ api, uploads, notices }, project, upload, onAbort) {
  const { drive, upload_id, name, parts, bytes } = upload;
  const isDone = await confirm({
    title: `Abort the upload of “${name}”?`,
    text: `The received data, ${formatNumber(parts, "part")} with ${
      formatBytes(bytes)
    }, will be deleted.`,
    action: "Abort the upload",
    run: () => api.abortUpload(project, drive, upload_id, name),
  });
  if (!isDone) return;
  uploads.list.records.remove(upload_id);
  notices.say(`The upload of “${name}” is aborted`);
  onAbort();
}

import { fill, h } from "../core/dom.js";
import { formatNumber } from "../core/format.js";
import { icon } from "../core/icon.js";
import { isAbort, sentenceOf } from "../core/notices.js";
import { serverUploads } from "../files/server_uploads.js";
import { createServerUploadsTable } from "../files/server_uploads_table.js";
import { createTransferFoot } from "../files/transfer_foot.js";

/** @import { Context, OpenView } from "../core/types.d.ts" */

/** Refresh interval in milliseconds. */
const INTERVAL = 10_000;

/** The uploads in progress: those of this tab, and all that are open on the server. @type {OpenView} */
export function open(context, { project }) {
  const { uploads, signal } = context;
  const status = h("p", { class: "hint", role: "status" }, "Loading…");
  const table = createServerUploadsTable(context, project, () => refresh());
  const box = h("div", { hidden: true }, table.element);
  const refresh = async () => {
    try {
      const hidden = await load(context, project, table);
      const more = hidden === 0 ? null : `and ${formatNumber(hidden, "more upload")}`;
      box.hidden = false;
      fill(status, more);
    } catch (error) {
      if (!isAbort(error)) fill(status, sentenceOf(error));
    }
  };
  // Do not rebuild the list while the focus is in it.
  const isFree = () => !box.contains(document.activeElement) && !document.hidden;
  const timer = setInterval(() => isFree() && refresh(), INTERVAL);
  signal.addEventListener("abort", () => clearInterval(timer), { once: true });
  let open = uploads.totals().open;
  uploads.subscribe((stored) => {
    const before = open;
    open = uploads.totals().open;
    if (stored.length > 0 || open !== before) refresh();
  }, signal);
  refresh();
  return { title: `Uploads of ${project}`, element: layOut(context, box, status, refresh) };
}

/** @param {Context} context @param {HTMLElement} box @param {HTMLElement} status @param {() => void} refresh */
function layOut({ uploads, signal }, box, status, refresh) {
  const again = h("button", { type: "button", on: { click: refresh } }, icon("retry"), "Refresh");
  return h(
    "div",
    { class: "view uploads-view" },
    h("div", { class: "head" }, h("h1", {}, "Uploads in progress"), again),
    createTransferFoot(uploads, signal),
    h("section", { class: "section" }, h("h2", {}, "On the server"), box, status),
  );
}

/**
 * Fills the table and drops records of uploads that the server no longer has.
 *
 * @param {Context} context @param {string} project
 * @param {ReturnType<typeof createServerUploadsTable>} table
 * @returns {Promise<number>} number of uploads that are not shown
 */
async function load({ api, uploads: { list }, signal }, project, table) {
  const records = list.records.all().filter((record) => record.project === project);
  const { drives } = await api.listDrives(project, signal);
  // A drive whose first file is still being uploaded may not be listed yet.
  const names = new Set([
    ...drives.map(({ drive_name }) => drive_name),
    ...records.map(({ drive }) => drive),
  ]);
  const { uploads, hidden } = await serverUploads(api, project, [...names], signal);
  const open = new Set(uploads.map(({ upload_id }) => upload_id));
  const running = new Set(
    list.tasks.filter(({ isOver }) => !isOver).map(({ uploadId }) => uploadId),
  );
  for (const { uploadId } of records) {
    if (hidden === 0 && !open.has(uploadId) && !running.has(uploadId)) {
      list.records.remove(uploadId);
    }
  }
  table.setRows(uploads);
  return hidden;
}

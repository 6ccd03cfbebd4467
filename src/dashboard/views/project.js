import { asyncBlock } from "../core/async_block.js";
import { h } from "../core/dom.js";
import { formatBytes, formatNumber, formatTime } from "../core/format.js";
import { drivesTable } from "../project/drives_table.js";
import { keysSection } from "../project/keys_section.js";
import { limitPanel } from "../project/limit_panel.js";

/** @import { Context, Params, ProjectDetails, View } from "../core/types.d.ts" */

/**
 * The usage and the keys of a project.
 *
 * @param {Context} context
 * @param {Params} params
 * @returns {View}
 */
export function open(context, { project }) {
  const { api, signal } = context;
  const usage = asyncBlock(async () => {
    const details = await api.showProject(project, signal);
    return h(
      "div",
      { class: "section" },
      factsOf(details),
      limitPanel(context, details, usage.reload),
      drivesTable(context, details, usage.reload),
    );
  });
  const element = h(
    "div",
    { class: "view" },
    h("div", { class: "head" }, h("h1", {}, "Keys & usage")),
    h("section", { class: "section" }, h("h2", {}, "Usage"), usage.element),
    keysSection(context, project),
  );
  return { title: project, element };
}

/** @param {ProjectDetails} details */
function factsOf({ project_id, name, created, files, bytes, drives }) {
  const facts = [
    ["Project id", h("span", { class: "code" }, project_id)],
    ["Name", name],
    ["Created", h("time", { datetime: created }, formatTime(created))],
    [
      "Holds",
      `${formatNumber(files, "file")}, ${formatBytes(bytes)} in ${
        formatNumber(drives.length, "drive")
      }`,
    ],
  ];
  const rows = facts.filter(([, value]) => value !== null);
  return h(
    "dl",
    { class: "facts" },
    rows.map(([term, value]) => h("div", {}, h("dt", {}, term), h("dd", {}, value))),
  );
}

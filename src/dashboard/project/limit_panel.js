import { busy } from "../core/busy.js";
import { parseBytes, writeBytes } from "../core/byte_size.js";
import { form } from "../core/dialog.js";
import { h } from "../core/dom.js";
import { formatBytes } from "../core/format.js";
import { limitBar } from "../core/usage_bar.js";

/** @import { Field } from "../core/dialog_frame.js" */
/** @import { Context, Project } from "../core/types.d.ts" */

/**
 * The limit of a project and its use.
 *
 * @param {Context} context
 * @param {Project} project
 * @param {() => Promise<void>} reload
 * @returns {HTMLElement | null} `null` without a limit and without the right to set one.
 */
export function limitPanel(context, project, reload) {
  const { isAdministrator } = context.session;
  if (project.max_bytes === null && !isAdministrator) return null;
  const click = busy(context.notices, async () => {
    if (await change(context, project)) await reload();
  });
  const label = project.max_bytes === null ? "Set a limit" : "Change limit";
  const button = h("button", { type: "button", class: "small", on: { click } }, label);
  return h(
    "div",
    { class: "limit" },
    limitBar(project) ?? h("p", { class: "soft" }, "Limited by the disk only."),
    isAdministrator ? h("div", {}, button) : null,
  );
}

/**
 * The form field for a limit.
 *
 * @param {number | null} [max] The present limit.
 * @returns {Field}
 */
export function limitField(max = null) {
  return {
    name: "max_bytes",
    label: "Limit",
    value: max === null ? "" : writeBytes(max),
    hint:
      "Of the bytes of its files and open uploads, such as 500 MB or 10 GB. Leave empty for no limit.",
    maxlength: 32,
  };
}

/** Parses the value of that field. @param {string} [text] @returns {number | null} */
export function limitOf(text = "") {
  return text.trim() === "" ? null : parseBytes(text);
}

/** @param {Context} context @param {Project} project @returns {Promise<boolean>} Whether it was changed. */
async function change({ api, notices }, { project_id, bytes, max_bytes }) {
  const changed = await form({
    title: `Limit of ${project_id}`,
    text: h(
      "p",
      {},
      `Its files have ${formatBytes(bytes)} now. A lower limit deletes nothing, but ` +
        "nothing can be added until enough is deleted.",
    ),
    action: "Save",
    fields: [limitField(max_bytes)],
    submit: async (values) =>
      await api.changeProject(project_id, { max_bytes: limitOf(values["max_bytes"]) }),
  });
  if (changed !== undefined) notices.say(`The limit of ${project_id} is saved`);
  return changed !== undefined;
}

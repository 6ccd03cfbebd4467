import { accessPanel } from "../application/access_panel.js";
import { addressPanel } from "../application/address_panel.js";
import { appKeysSection } from "../application/app_keys_section.js";
import { asyncBlock } from "../core/async_block.js";
import { busy } from "../core/busy.js";
import { confirm } from "../core/dialog.js";
import { h } from "../core/dom.js";
import { links } from "../core/links.js";

/** @import { Context, Params, View } from "../core/types.d.ts" */

/**
 * One application: its addresses, access and keys.
 *
 * @param {Context} context
 * @param {Params} params
 * @returns {View}
 */
export function open(context, { project, app: name }) {
  const { api, notices, signal } = context;
  const body = asyncBlock(async () => {
    const [app, { gate }, { host_suffix }] = await Promise.all([
      api.showApp(project, name, signal),
      api.listApps(project, signal),
      api.showProject(project, signal),
    ]);
    return h(
      "div",
      { class: "view" },
      addressPanel(context, app, { gate, suffix: host_suffix }, body.reload),
      accessPanel(context, app, body.reload),
      appKeysSection(context, app),
    );
  });
  const remove = busy(notices, () => deleteApp(context, project, name));
  const element = h(
    "div",
    { class: "view" },
    h(
      "div",
      { class: "head" },
      h(
        "div",
        {},
        h("a", { href: links.applications(project), class: "small-text" }, "Applications"),
        h("h1", {}, name),
      ),
      h("button", { type: "button", on: { click: remove } }, "Delete application"),
    ),
    body.element,
  );
  return { title: `${name} of ${project}`, element };
}

/** @param {Context} context @param {string} project @param {string} name */
async function deleteApp({ api, notices, go }, project, name) {
  const isDeleted = await confirm({
    title: `Delete application ${name}?`,
    text: h(
      "p",
      {},
      "Its keys are deleted too, and its callers are disconnected. The program behind it keeps running.",
    ),
    action: "Delete application",
    typed: name,
    run: () => api.deleteApp(project, name),
  });
  if (!isDeleted) return;
  notices.say(`The application ${name} is deleted`);
  go(links.applications(project));
}

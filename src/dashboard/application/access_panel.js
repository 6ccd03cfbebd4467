import { busy } from "../core/busy.js";
import { confirm } from "../core/dialog.js";
import { h } from "../core/dom.js";

/** @import { Application, Context } from "../core/types.d.ts" */

const ON = "Only you, with the project key, and holders of a key of this application have access.";
const OFF =
  "Everyone who can reach the gate has access. Switch access control on before you create keys.";

/**
 * The switch of the access control.
 *
 * @param {Context} context
 * @param {Application} app
 * @param {() => Promise<void>} reload
 * @returns {HTMLElement}
 */
export function accessPanel(context, app, reload) {
  const { enabled } = app.access;
  const click = busy(context.notices, async () => {
    if (await toggleAccess(context, app)) await reload();
  });
  const control = h(
    "button",
    {
      type: "button",
      role: "switch",
      class: "switch",
      "aria-checked": String(enabled),
      "aria-describedby": "access-hint",
      on: { click },
    },
    "Access control",
  );
  return h(
    "section",
    { class: "panel" },
    h("h2", {}, "Access"),
    h("div", { class: "switch-row" }, control, h("span", {}, enabled ? "On" : "Off")),
    h("p", { class: "soft", id: "access-hint" }, enabled ? ON : OFF),
  );
}

/** @param {Context} context @param {Application} app @returns {Promise<boolean>} Whether it was switched. */
async function toggleAccess({ api, notices }, { project_id, name, access }) {
  const run = () => api.switchAccess(project_id, name, !access.enabled);
  if (access.enabled) {
    const isOff = await confirm({
      title: `Open ${name} to everyone?`,
      text: h(
        "p",
        {},
        "Without access control, everyone who can reach the gate has access. The keys are kept for when you switch it on again.",
      ),
      action: "Switch off",
      run,
    });
    if (!isOff) return false;
  } else {
    await run();
  }
  notices.say(`The access control of ${name} is ${access.enabled ? "off" : "on"}`);
  return true;
}

import { busy } from "../core/busy.js";
import { form } from "../core/dialog.js";
import { h } from "../core/dom.js";
import { appLink } from "./app_link.js";

/** @import { Field } from "../core/dialog.js" */
/** @import { Application, Child, Context, GatePlace } from "../core/types.d.ts" */

/**
 * Where callers find the application, and where the server does.
 *
 * @param {Context} context
 * @param {Application} app
 * @param {{gate: GatePlace | null, suffix: string | null}} place The gate, and below what an owner may choose hosts.
 * @param {() => Promise<void>} reload
 * @returns {HTMLElement}
 */
export function addressPanel(context, app, { gate, suffix }, reload) {
  const { isAdministrator } = context.session;
  const change = busy(context.notices, async () => {
    if (await edit(context, app, suffix)) await reload();
  });
  const label = isAdministrator ? "Change upstream and host" : "Change host";
  return h(
    "section",
    { class: "panel" },
    h("h2", {}, "Addresses"),
    h(
      "dl",
      { class: "facts" },
      fact("Callers open it at", appLink(app, gate)),
      fact("Host name", app.host ?? none("none of its own: it is known by its path")),
      fact("Upstream", app.upstream ?? none("none yet: nobody can be let in")),
    ),
    isAdministrator ? null : h(
      "p",
      { class: "soft small-text" },
      "The upstream is the administrator’s to set, as it says where this server connects to.",
      suffix === null ? " So is the host name." : null,
    ),
    gate === null ? h("p", { class: "soft small-text" }, GATE_OFF) : null,
    isAdministrator || suffix !== null
      ? h("div", {}, h("button", { type: "button", on: { click: change } }, label))
      : null,
  );
}

const GATE_OFF = "This server runs without its gate (--apps-port 0): a proxy in front of the " +
  "application can ask it who may come in.";

/** @param {string} term @param {Child} value */
function fact(term, value) {
  return h("div", {}, h("dt", {}, term), h("dd", {}, value));
}

/** @param {string} text */
function none(text) {
  return h("span", { class: "soft" }, text);
}

/**
 * @param {Context} context
 * @param {Application} app
 * @param {string | null} suffix
 * @returns {Promise<boolean>} Whether it was changed.
 */
async function edit({ api, session, notices }, { project_id, name, upstream, host }, suffix) {
  /** @type {Field} */
  const upstreamField = {
    name: "upstream",
    label: "Upstream",
    value: upstream ?? "",
    hint:
      "Where it runs, as this server reaches it, such as http://127.0.0.1:3000. Empty for none.",
  };
  const changed = await form({
    title: `Addresses of ${name}`,
    action: "Save",
    fields: [
      ...(session.isAdministrator ? [upstreamField] : []),
      {
        name: "host",
        label: "Host name",
        value: host ?? "",
        hint: suffix === null || session.isAdministrator
          ? "One of its own that leads to this server. Empty for none."
          : `One below ${suffix}, such as ${name}.${suffix}. Empty for none.`,
      },
    ],
    submit: (values) =>
      api.changeApp(project_id, name, {
        ...(session.isAdministrator ? { upstream: values["upstream"] || null } : {}),
        host: values["host"] || null,
      }),
  });
  if (changed !== undefined) notices.say(`The addresses of ${name} are saved`);
  return changed !== undefined;
}

import { busy } from "../core/busy.js";
import { form } from "../core/dialog.js";
import { h } from "../core/dom.js";
import { appLink } from "./app_link.js";

/** @import { Field } from "../core/dialog.js" */
/** @import { Application, Child, Context, GatePlace } from "../core/types.d.ts" */

/**
 * The addresses of an application: for callers, and for the server.
 *
 * @param {Context} context
 * @param {Application} app
 * @param {{gate: GatePlace | null, suffix: string | null}} place The gate, and the domain below which an owner may choose hosts.
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
      fact("Host name", app.host ?? none("none: callers use its path")),
      fact("Upstream", app.upstream ?? none("none yet: the gate has nothing to forward to")),
    ),
    isAdministrator ? null : h(
      "p",
      { class: "soft small-text" },
      "Only the administrator can set the upstream, because this server connects to it.",
      suffix === null ? " The same holds for the host name." : null,
    ),
    gate === null ? h("p", { class: "soft small-text" }, GATE_OFF) : null,
    isAdministrator || suffix !== null
      ? h("div", {}, h("button", { type: "button", on: { click: change } }, label))
      : null,
  );
}

const GATE_OFF = "This server runs without its gate (--apps-port 0). A proxy in front of the " +
  "application can ask it which callers to let in.";

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
      "Its address as seen from this server, such as http://127.0.0.1:3000. Leave empty for none.",
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
          ? "A name of its own that leads to this server. Leave empty for none."
          : `A name below ${suffix}, such as ${name}.${suffix}. Leave empty for none.`,
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

import { accessTag } from "../application/access_tag.js";
import { appLink } from "../application/app_link.js";
import { asyncBlock } from "../core/async_block.js";
import { busy } from "../core/busy.js";
import { form } from "../core/dialog.js";
import { h } from "../core/dom.js";
import { icon } from "../core/icon.js";
import { links } from "../core/links.js";
import { createTable } from "../core/table.js";

/** @import { Column } from "../core/table.js" */
/** @import { Application, Context, GatePlace, Params, View } from "../core/types.d.ts" */

/**
 * The applications of a project.
 *
 * @param {Context} context
 * @param {Params} params
 * @returns {View}
 */
export function open(context, { project }) {
  const { api, notices, signal } = context;
  const list = asyncBlock(async () => {
    const { apps, gate } = await api.listApps(project, signal);
    return createTable({
      caption: "Applications of the project",
      columns: columnsOf(project, gate),
      rows: apps,
      empty: [
        h(
          "p",
          {},
          "No applications yet. The gate can restrict a web application that runs beside the server to you and to holders of its keys.",
        ),
        h("p", {}, "Add the first one with “New application”."),
      ],
      sort: { key: "name", isDown: false },
    }).element;
  });
  const add = busy(notices, () => create(context, project));
  const head = h(
    "div",
    { class: "head" },
    h("h1", {}, "Applications"),
    h(
      "button",
      { type: "button", class: "primary", on: { click: add } },
      icon("add"),
      "New application",
    ),
  );
  const element = h("div", { class: "view" }, head, list.element);
  return { title: `Applications of ${project}`, element };
}

/** @param {string} project @param {GatePlace | null} gate @returns {Column<Application>[]} */
function columnsOf(project, gate) {
  return [
    {
      key: "name",
      label: "Application",
      isHeading: true,
      value: ({ name }) => name,
      cell: ({ name }) => h("a", { href: links.application(project, name) }, name),
    },
    {
      key: "access",
      label: "Access",
      value: ({ access }) => Number(access.enabled),
      cell: ({ access }) => accessTag(access),
    },
    { key: "upstream", label: "Upstream", cell: ({ upstream }) => orNone(upstream) },
    { key: "host", label: "Host", cell: ({ host }) => orNone(host) },
    {
      key: "open",
      label: "Open",
      isQuiet: true,
      cell: (app) => app.upstream !== null && appLink(app, gate, "Open"),
    },
  ];
}

/** @param {string | null} text */
function orNone(text) {
  return text === null ? h("span", { class: "soft" }, "none") : h("span", { class: "code" }, text);
}

const LATER = "The administrator sets its upstream and its host name afterwards.";

/** @param {Context} context @param {string} project */
async function create({ api, session, go }, project) {
  const suffix = session.isAdministrator ? null : (await api.showProject(project)).host_suffix;
  const upstream = {
    name: "upstream",
    label: "Upstream",
    hint: "Its address as seen from this server, such as http://127.0.0.1:3000.",
  };
  const made = await form({
    title: "New application",
    action: "Create application",
    text: session.isAdministrator ? undefined : h(
      "p",
      { class: "soft" },
      suffix === null ? LATER : "The administrator sets its upstream afterwards.",
    ),
    fields: [
      {
        name: "name",
        label: "Name",
        hint: "Part of its address.",
        required: true,
        maxlength: 64,
      },
      ...(session.isAdministrator ? [upstream] : []),
      ...(session.isAdministrator || suffix !== null
        ? [{
          name: "host",
          label: "Host name",
          hint: `One of its own, such as viewer.${
            suffix ?? "example.com"
          }. Without one it is known by a path.`,
        }]
        : []),
    ],
    submit: ({ name = "", upstream = "", host = "" }) =>
      api.createApp(project, {
        name,
        ...(upstream === "" ? {} : { upstream }),
        ...(host === "" ? {} : { host }),
      }),
  });
  if (made !== undefined) go(links.application(project, made.name));
}

import { asyncBlock } from "../core/async_block.js";
import { busy } from "../core/busy.js";
import { confirm, form } from "../core/dialog.js";
import { h } from "../core/dom.js";
import { formatTime } from "../core/format.js";
import { icon } from "../core/icon.js";
import { showSecret } from "../core/secret_dialog.js";
import { createTable } from "../core/table.js";

/** @import { Column } from "../core/table.js" */
/** @import { Context, ProjectKey } from "../core/types.d.ts" */

/**
 * The keys that open a project.
 *
 * @param {Context} context
 * @param {string} project
 * @returns {HTMLElement}
 */
export function keysSection(context, project) {
  const { api, notices, signal } = context;
  const list = asyncBlock(async () => {
    const { keys } = await api.listKeys(project, signal);
    return createTable({
      caption: "Keys of the project",
      columns: columnsOf(context, project, list.reload),
      rows: keys,
      empty: h("p", {}, "This project has no key. Create one with “New key”."),
      sort: { key: "created", isDown: false },
    }).element;
  });
  const add = busy(notices, async () => {
    await create(context, project);
    await list.reload();
  });
  return h(
    "section",
    { class: "section" },
    h(
      "div",
      { class: "head" },
      h("h2", {}, "Keys"),
      h("button", { type: "button", on: { click: add } }, icon("add"), "New key"),
    ),
    h(
      "p",
      { class: "soft" },
      "Each key opens all drives of the project. Give every program its own, so that you can revoke one without the others.",
    ),
    list.element,
  );
}

/**
 * @param {Context} context @param {string} project @param {() => Promise<void>} reload
 * @returns {Column<ProjectKey>[]}
 */
function columnsOf(context, project, reload) {
  const own = ownPrefix(context, project);
  return [
    {
      key: "prefix",
      label: "Key",
      isHeading: true,
      value: ({ prefix }) => prefix,
      cell: ({ prefix }) => [
        h("span", { class: "code" }, `${project}_${prefix}…`),
        own.startsWith(prefix) ? [" ", h("span", { class: "tag" }, "signed in with it")] : null,
      ],
    },
    {
      key: "name",
      label: "Name",
      value: ({ name }) => name ?? "",
      cell: ({ name }) => name ?? h("span", { class: "soft" }, "none"),
    },
    {
      key: "created",
      label: "Created",
      value: ({ created }) => Date.parse(created),
      cell: ({ created }) => h("time", { datetime: created }, formatTime(created)),
    },
    {
      key: "actions",
      label: "Actions",
      isQuiet: true,
      cell: (key) => actionsOf(context, project, key, reload),
    },
  ];
}

/** The secret of the key of this session, if it is one of this project. @param {Context} context @param {string} project */
function ownPrefix({ session }, project) {
  const { credentials } = session;
  return credentials?.kind === "project" ? credentials.secret.slice(project.length + 1) : "";
}

/** @param {Context} context @param {string} project @param {ProjectKey} key @param {() => Promise<void>} reload */
function actionsOf(context, project, { prefix, name }, reload) {
  const { api, notices } = context;
  const isOwn = ownPrefix(context, project).startsWith(prefix);
  const click = busy(notices, async () => {
    const isRevoked = await confirm({
      title: `Revoke the key ${prefix}…${name === null ? "" : ` (${name})`}?`,
      text: [
        h(
          "p",
          {},
          "Programs that use it are refused from now on, and browsers that signed in to applications with it are signed out.",
        ),
        isOwn
          ? h(
            "p",
            { class: "problem" },
            "You are signed in with this key: you will be signed out.",
          )
          : null,
      ],
      action: "Revoke key",
      run: () => api.revokeKey(project, prefix),
    });
    if (!isRevoked) return;
    notices.say(`The key ${prefix}… is revoked`);
    await reload();
  });
  const hidden = h("span", { class: "visually-hidden" }, ` key ${prefix}`);
  return h(
    "div",
    { class: "row-actions" },
    h("button", { type: "button", class: "small", on: { click } }, "Revoke", hidden),
  );
}

/** @param {Context} context @param {string} project */
async function create({ api }, project) {
  const made = await form({
    title: "New key",
    action: "Create key",
    fields: [{ name: "name", label: "Name", hint: "The program that uses it.", maxlength: 128 }],
    submit: ({ name = "" }) => api.createKey(project, name === "" ? {} : { name }),
  });
  if (made === undefined) return;
  await showSecret({
    title: "The key was created",
    label: "Project key",
    secret: made.project_key,
    lost: "If you lose it, create a new one and revoke this one.",
  });
}

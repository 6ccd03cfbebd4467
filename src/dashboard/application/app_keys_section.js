import { asyncBlock } from "../core/async_block.js";
import { busy } from "../core/busy.js";
import { confirm, form } from "../core/dialog.js";
import { h } from "../core/dom.js";
import { formatTime } from "../core/format.js";
import { icon } from "../core/icon.js";
import { showSecret } from "../core/secret_dialog.js";
import { createTable } from "../core/table.js";

/** @import { Column } from "../core/table.js" */
/** @import { AppKey, Application, Context } from "../core/types.d.ts" */

/**
 * The keys of an application. They can be created while its access control is on.
 *
 * @param {Context} context
 * @param {Application} app
 * @returns {HTMLElement}
 */
export function appKeysSection(context, app) {
  const { api, notices, signal } = context;
  const { enabled } = app.access;
  const list = asyncBlock(async () => {
    const { keys } = await api.listAppKeys(app.project_id, app.name, signal);
    return createTable({
      caption: `Keys of ${app.name}`,
      columns: columnsOf(context, app, list.reload),
      rows: keys,
      empty: h("p", {}, enabled ? NO_KEYS : NO_KEYS_OFF),
      sort: { key: "name", isDown: false },
    }).element;
  });
  const add = busy(notices, async () => {
    await create(context, app);
    await list.reload();
  });
  const button = h(
    "button",
    { type: "button", disabled: !enabled, on: { click: add } },
    icon("add"),
    "New key",
  );
  return h(
    "section",
    { class: "section" },
    h("div", { class: "head" }, h("h2", {}, "Keys"), button),
    enabled ? null : h("p", { class: "soft" }, "Keys can be created while access control is on."),
    list.element,
  );
}

const NO_KEYS = "No keys yet: only you have access. Create one for each caller with “New key”.";
const NO_KEYS_OFF = "No keys yet, and none are needed while access control is off.";

/**
 * @param {Context} context @param {Application} app @param {() => Promise<void>} reload
 * @returns {Column<AppKey>[]}
 */
function columnsOf(context, app, reload) {
  return [
    {
      key: "name",
      label: "Name",
      isHeading: true,
      value: ({ name }) => name,
      cell: ({ name, description }) =>
        description === null ? name : [name, h("div", { class: "soft small-text" }, description)],
    },
    {
      key: "prefix",
      label: "Key",
      value: ({ prefix }) => prefix,
      cell: ({ prefix }) => h("span", { class: "code" }, `${prefix}.…`),
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
      cell: ({ name }) => actionsOf(context, app, name, reload),
    },
  ];
}

/** @param {Context} context @param {Application} app @param {string} key @param {() => Promise<void>} reload */
function actionsOf({ api, notices }, { project_id, name }, key, reload) {
  const click = busy(notices, async () => {
    const isRevoked = await confirm({
      title: `Revoke the key “${key}”?`,
      text: h(
        "p",
        {},
        "Callers that use it are refused from now on, and their open connections are closed.",
      ),
      action: "Revoke key",
      run: () => api.revokeAppKey(project_id, name, key),
    });
    if (!isRevoked) return;
    notices.say(`The key “${key}” is revoked`);
    await reload();
  });
  const hidden = h("span", { class: "visually-hidden" }, ` key ${key}`);
  return h(
    "div",
    { class: "row-actions" },
    h("button", { type: "button", class: "small", on: { click } }, "Revoke", hidden),
  );
}

/** @param {Context} context @param {Application} app */
async function create({ api }, { project_id, name: app }) {
  const made = await form({
    title: `New key of ${app}`,
    action: "Create key",
    fields: [
      {
        name: "name",
        label: "Name",
        hint: "The person or program that uses it.",
        required: true,
        maxlength: 128,
      },
      { name: "description", label: "Description", maxlength: 1024 },
    ],
    submit: ({ name = "", description = "" }) =>
      api.createAppKey(project_id, app, {
        name,
        ...(description === "" ? {} : { description }),
      }),
  });
  if (made === undefined) return;
  await showSecret({
    title: `The key “${made.name}” was created`,
    label: "API key, for the header X-API-Key",
    secret: made.api_key,
    lost: "If you lose it, create a new one and revoke this one.",
  });
}

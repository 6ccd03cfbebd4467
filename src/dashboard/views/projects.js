import { asyncBlock } from "../core/async_block.js";
import { busy } from "../core/busy.js";
import { confirm, form } from "../core/dialog.js";
import { h } from "../core/dom.js";
import { formatBytes, formatCount, formatNumber, formatTime } from "../core/format.js";
import { icon } from "../core/icon.js";
import { links } from "../core/links.js";
import { showSecret } from "../core/secret_dialog.js";
import { createTable } from "../core/table.js";
import { diskBar, limitBar, usageBar } from "../core/usage_bar.js";
import { limitField, limitOf } from "../project/limit_panel.js";

/** @import { Column } from "../core/table.js" */
/** @import { Backups, Context, Disk, Integrity, Project, View } from "../core/types.d.ts" */

/**
 * All projects: for the administrator.
 *
 * @param {Context} context
 * @returns {View}
 */
export function open(context) {
  const { api, notices, signal } = context;
  const list = asyncBlock(async () => {
    const { projects, disk, integrity, backups } = await api.listProjects(signal);
    return h(
      "div",
      { class: "section" },
      ...damageNotice(integrity),
      backupWarning(backups),
      diskBar(disk),
      projectTable(context, projects, disk, list.reload),
    );
  });
  const add = busy(notices, () => create(context));
  const head = h(
    "div",
    { class: "head" },
    h("h1", {}, "Projects"),
    h(
      "button",
      { type: "button", class: "primary", on: { click: add } },
      icon("add"),
      "New project",
    ),
  );
  return { title: "Projects", element: h("div", { class: "view" }, head, list.element) };
}

/** The warning about damaged files. @param {Integrity} integrity */
function damageNotice({ damaged_files, damaged }) {
  const [first] = damaged;
  if (first === undefined) return [];
  const example = `${first.name} in drive ${first.drive_name} of project ${first.project_id}`;
  const text = damaged_files === 1
    ? `A file is damaged: ${example}`
    : `${formatNumber(damaged_files, "file")} are damaged, such as ${example}`;
  const advice = "Restore it from a backup, or replace or delete it.";
  return [
    h("p", { class: "warning", role: "alert" }, icon("warning"), `${text}. ${advice}`),
  ];
}

/**
 * The warning about the server's backups.
 *
 * @param {Backups | undefined} backups
 */
function backupWarning(backups) {
  const problem = backups?.problem ?? null;
  return problem === null ? null : h("p", { class: "warning", role: "alert" }, `${problem}.`);
}

/**
 * @param {Context} context @param {Project[]} projects @param {Disk} disk @param {() => Promise<void>} reload
 */
function projectTable(context, projects, disk, reload) {
  const all = projects.reduce((sum, { bytes }) => sum + bytes, 0);
  return createTable({
    caption: "Projects and their usage",
    columns: columnsOf(context, disk, all, reload),
    rows: projects,
    empty: [
      h(
        "p",
        {},
        "No projects yet. A project has drives with files, keys that open them, and applications.",
      ),
      h("p", {}, "Create the first one with “New project”."),
    ],
    sort: { key: "project", isDown: false },
  }).element;
}

/**
 * @param {Context} context @param {Disk} disk @param {number} all @param {() => Promise<void>} reload
 * @returns {Column<Project>[]}
 */
function columnsOf(context, disk, all, reload) {
  return [
    {
      key: "project",
      label: "Project",
      isHeading: true,
      value: ({ project_id }) => project_id,
      cell: nameCell,
    },
    {
      key: "files",
      label: "Files",
      isNumber: true,
      value: ({ files }) => files,
      cell: ({ files }) => formatCount(files),
    },
    {
      key: "bytes",
      label: "Size",
      isNumber: true,
      value: ({ bytes }) => bytes,
      cell: ({ bytes }) => formatBytes(bytes),
    },
    {
      key: "share",
      label: "Share",
      cell: (project) => limitBar(project) ?? usageBar(project.bytes, disk, all),
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
      cell: (project) => actionsOf(context, project, reload),
    },
  ];
}

/** @param {Project} project */
function nameCell({ project_id, name }) {
  const link = h("a", { href: links.project(project_id) }, project_id);
  return name === null ? link : [link, h("div", { class: "soft small-text" }, name)];
}

/** @param {Context} context @param {Project} project @param {() => Promise<void>} reload */
function actionsOf(context, project, reload) {
  const click = busy(context.notices, async () => {
    if (await remove(context, project)) await reload();
  });
  const hidden = h("span", { class: "visually-hidden" }, ` project ${project.project_id}`);
  return h(
    "div",
    { class: "row-actions" },
    h("button", { type: "button", class: "small", on: { click } }, "Delete", hidden),
  );
}

/** @param {Context} context */
async function create({ api, go }) {
  const made = await form({
    title: "New project",
    action: "Create project",
    fields: [
      { name: "name", label: "Name", hint: "Shown in lists.", maxlength: 128 },
      {
        name: "project_id",
        label: "Project id",
        hint:
          "1 to 64 letters, digits and “-”. It is part of keys and addresses and cannot be changed. Leave empty for a generated one.",
        maxlength: 64,
      },
      limitField(),
    ],
    submit: async ({ name = "", project_id = "", max_bytes }) =>
      await api.createProject({
        ...(name === "" ? {} : { name }),
        ...(project_id === "" ? {} : { project_id }),
        max_bytes: limitOf(max_bytes),
      }),
  });
  if (made === undefined) return;
  await showSecret({
    title: `Project ${made.project_id} was created`,
    label: "Project key",
    secret: made.project_key,
    lost: "If you lose it, create another key.",
  });
  go(links.project(made.project_id));
}

/** @param {Context} context @param {Project} project @returns {Promise<boolean>} Whether it was deleted. */
async function remove({ api, notices }, { project_id, files, bytes }) {
  const isDeleted = await confirm({
    title: `Delete project ${project_id}?`,
    text: h(
      "p",
      {},
      `Its ${formatNumber(files, "file")} (${
        formatBytes(bytes)
      }), its keys and its applications will be deleted. This cannot be undone.`,
    ),
    action: "Delete project",
    typed: project_id,
    run: () => api.deleteProject(project_id),
  });
  if (isDeleted) notices.say(`The project ${project_id} is deleted`);
  return isDeleted;
}

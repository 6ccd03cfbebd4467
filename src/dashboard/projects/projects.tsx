import { Boxes } from "lucide";
import { dataOf, type Schemas } from "../core/api.ts";
import { type App, useApp } from "../core/context.ts";
import { formatBytes, formatDate, formatNumber, plural } from "../core/format.ts";
import { links } from "../core/links.ts";
import { useAnswer } from "../core/resource.ts";
import { Collection } from "../ui/collection.tsx";
import { askForm } from "../ui/form.tsx";
import { Meter } from "../ui/facts.tsx";
import { showSecret } from "../ui/dialog.tsx";
import type { Column } from "../ui/table.tsx";
import { MAX_TRASH_DAYS, NO_SIZE, parseDays, parseSize, SIZE_FIELD } from "./limit_fields.ts";

type ProjectUsage = Schemas["ProjectUsage"];

export function Projects() {
  const app = useApp();
  const list = useAnswer((api, signal) => api.GET("/admin/v1/projects", { signal }), []);
  return (
    <Collection
      title="Projects"
      from={list}
      rows={({ projects }) => projects}
      keyOf={({ project_id }) => project_id}
      columns={columnsOf(list.data?.disk.total ?? null)}
      empty={{
        icon: Boxes,
        title: "No projects yet",
        text: "A project has drives with files, keys that open them, and applications.",
      }}
      create={{
        label: "New project",
        ask: () => askForProject(app),
        then: async ({ project_id, name, project_key }) => {
          await showSecret(app, {
            title: `Created “${name ?? project_id}”`,
            label: "Project key",
            secret: project_key,
          });
          app.router.go(links.firstDrive(project_id));
        },
      }}
      above={list.data && <Warnings {...list.data} />}
    />
  );
}

/** What the administrator has to know at once. */
function Warnings({ integrity, backups }: Pick<Schemas["ProjectList"], "integrity" | "backups">) {
  const problem = backups?.problem ?? null;
  return (
    <>
      {integrity.damaged_files === 0 ? null : (
        <p class="notice bad" role="alert">
          {plural(integrity.damaged_files, "file")} damaged.{" "}
          <a href={links.status()}>See which ones</a>
        </p>
      )}
      {problem === null ? null : <p class="notice warn" role="alert">{problem}.</p>}
    </>
  );
}

function columnsOf(total: number | null): Column<ProjectUsage>[] {
  return [
    {
      title: "Project",
      isMain: true,
      cell: ({ project_id, name }) => (
        <a class="title-link" href={links.drives(project_id)}>
          {name ?? project_id}
          {name === null || name === project_id ? null : <small>{project_id}</small>}
        </a>
      ),
    },
    {
      title: "Files",
      isNumber: true,
      cell: ({ files, max_files }) =>
        formatNumber(files) + (max_files === null ? "" : ` of ${formatNumber(max_files)}`),
    },
    {
      title: "Used",
      cell: ({ bytes, trash_bytes, open_upload_bytes, max_bytes, project_id }) => {
        const used = bytes + trash_bytes + open_upload_bytes;
        const limit = max_bytes ?? total;
        return (
          <div class="used stack">
            <span>
              {formatBytes(used)}
              {max_bytes === null ? "" : ` of ${formatBytes(max_bytes)}`}
            </span>
            {limit === null
              ? null
              : <Meter value={used} max={limit} label={`Used by ${project_id}`} />}
          </div>
        );
      },
    },
    { title: "Created", isMinor: true, cell: ({ created }) => formatDate(created) },
  ];
}

/** The days that the trash keeps files unless the user chooses others. */
const USUAL_DAYS = 30;

async function askForProject(app: App): Promise<Schemas["NewProject"] | undefined> {
  return await askForm(app, {
    title: "New project",
    submit: "Create project",
    initial: { name: "", id: "", limit: "", hasTrash: true, days: String(USUAL_DAYS) },
    fields: {
      name: { label: "Name" },
      id: {
        label: "Id",
        hint:
          "Letters, digits and hyphens; it is part of every address and key. Empty for a random one.",
        spellcheck: false,
      },
      limit: {
        label: "Limit of space",
        ...SIZE_FIELD,
        problem: ({ limit }) => parseSize(limit) === undefined ? NO_SIZE : undefined,
      },
      hasTrash: {
        label: "Trash",
        hint: ({ hasTrash }) =>
          hasTrash
            ? "What is deleted or overwritten can be restored. Until then it takes space."
            : "What is deleted or overwritten is gone.",
      },
      days: {
        label: "Days to keep deleted files",
        inputMode: "numeric",
        isShown: ({ hasTrash }) => hasTrash,
        problem: ({ days }) =>
          parseDays(days) ? undefined : `Enter a whole number from 1 to ${MAX_TRASH_DAYS}`,
      },
    },
    send: ({ name, id, limit, hasTrash, days }) =>
      dataOf(app.api.POST("/admin/v1/projects", {
        body: {
          name: name.trim() || null,
          project_id: id.trim() || null,
          max_bytes: parseSize(limit) ?? null,
          trash_days: hasTrash ? parseDays(days) ?? 0 : 0,
        },
      })),
  });
}

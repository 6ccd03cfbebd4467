import { Boxes, Plus } from "lucide";
import { dataOf, type Schemas } from "../core/api.ts";
import { useApp } from "../core/context.ts";
import { formatBytes, formatDate, formatNumber, plural } from "../core/format.ts";
import { links } from "../core/links.ts";
import { useAnswer } from "../core/resource.ts";
import { Button } from "../ui/button.tsx";
import { FormDialog } from "../ui/dialog.tsx";
import { TextField, useText } from "../ui/field.tsx";
import { Empty, Loaded } from "../ui/loaded.tsx";
import { Meter } from "../ui/meter.tsx";
import { Page } from "../ui/page.tsx";
import { showSecret } from "../ui/secret_dialog.tsx";
import { type Column, Table } from "../ui/table.tsx";
import { daysOf, TrashField, useTrashDays } from "./trash_field.tsx";
import { NO_SIZE, parseSize, SIZE_FIELD } from "./size_field.ts";

type ProjectUsage = Schemas["ProjectUsage"];

export function Projects() {
  const app = useApp();
  const list = useAnswer((api, signal) => api.GET("/admin/v1/projects", { signal }), []);
  const create = async () => {
    const made = await app.overlays.show<Schemas["NewProject"]>((close) => (
      <NewProject onClose={close} />
    ));
    if (made === undefined) return;
    await showSecret(app, {
      title: `Created “${made.name ?? made.project_id}”`,
      label: "Project key",
      secret: made.project_key,
    });
    app.router.go(links.firstDrive(made.project_id));
  };
  const button = <Button kind="primary" icon={Plus} onClick={create}>New project</Button>;
  return (
    <Page title="Projects" actions={button}>
      <Loaded from={list}>
        {({ projects, integrity, backups, disk }) => (
          <div class="stack">
            <Warnings {...{ integrity, backups }} />
            <Table
              caption="Projects"
              columns={columnsOf(disk)}
              rows={projects}
              keyOf={({ project_id }) => project_id}
              empty={
                <Empty
                  icon={Boxes}
                  title="No projects yet"
                  text="A project has drives with files, keys that open them, and applications."
                />
              }
            />
          </div>
        )}
      </Loaded>
    </Page>
  );
}

/** What the administrator has to know at once. */
function Warnings({ integrity, backups }: {
  integrity: Schemas["Integrity"];
  backups: Schemas["Backups"] | undefined;
}) {
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

function columnsOf({ total }: Schemas["Disk"]): Column<ProjectUsage>[] {
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
          <div class="used">
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

function NewProject({ onClose }: { onClose: (made?: Schemas["NewProject"]) => void }) {
  const { api } = useApp();
  const name = useText();
  const id = useText();
  const limit = useText();
  const [trash, setTrash] = useTrashDays();
  const create = async () => {
    const max_bytes = parseSize(limit.value);
    const trash_days = daysOf(trash);
    // The fields say why.
    if (max_bytes === undefined || trash_days === undefined) return;
    const body = {
      trash_days,
      ...(name.value.trim() === "" ? {} : { name: name.value.trim() }),
      ...(id.value.trim() === "" ? {} : { project_id: id.value.trim() }),
      ...(max_bytes === null ? {} : { max_bytes }),
    };
    onClose(await dataOf(api.POST("/admin/v1/projects", { body })));
  };
  return (
    <FormDialog
      title="New project"
      submit="Create project"
      onClose={onClose}
      onSubmit={create}
    >
      <TextField label="Name" {...name} />
      <TextField
        label="Id"
        hint="Letters, digits and hyphens; it is part of every address and key. Empty for a random one."
        {...id}
        spellcheck={false}
      />
      <TextField
        label="Limit of space"
        {...SIZE_FIELD}
        {...limit}
        problem={parseSize(limit.value) === undefined ? NO_SIZE : undefined}
      />
      <TrashField value={trash} onChange={setTrash} />
    </FormDialog>
  );
}

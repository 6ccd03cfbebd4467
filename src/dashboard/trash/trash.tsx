import { RotateCcw, Trash2 } from "lucide";
import { useEffect, useState } from "preact/hooks";
import type { Schemas } from "../core/api.ts";
import { type App, useApp } from "../core/context.ts";
import { formatBytes, formatRelative, plural } from "../core/format.ts";
import { links } from "../core/links.ts";
import { useLive } from "../core/live.ts";
import { type Pages, type Resource, usePages } from "../core/resource.ts";
import { DriveFiles, type Outcome } from "../files/actions/drive_files.ts";
import { DriveSelect } from "../files/drive_select.tsx";
import { folderOf, labelOf } from "../files/entry.ts";
import { useProject } from "../projects/use_project.ts";
import { Button } from "../ui/button.tsx";
import { confirm } from "../ui/dialog.tsx";
import { Checkbox } from "../ui/field.tsx";
import { Empty, Loaded, Skeleton } from "../ui/loaded.tsx";
import { Page } from "../ui/page.tsx";
import { type Column, Table } from "../ui/table.tsx";

type TrashItem = Schemas["TrashItem"];

/** Items that one page of the server has. */
const PAGE = 1000;

/** The deleted and replaced files of a drive, which can be restored. */
export function Trash({ project, drive }: { project: string; drive: string }) {
  return (
    <Page title="Trash" lead={<TrashLead project={project} />}>
      <DriveSelect project={project} drive={drive} section="trash">
        {(drive) => <TrashItems key={drive} project={project} drive={drive} />}
      </DriveSelect>
    </Page>
  );
}

/** How long deleted files are kept, for those who may know it. */
function TrashLead({ project }: { project: string }) {
  const { session } = useApp();
  return session.may("admin") ? <TrashDays project={project} /> : <>{LEAD}</>;
}

const LEAD = "Deleted and replaced files, until they are removed for good.";

function TrashDays({ project }: { project: string }) {
  const days = useProject(project).data?.trash_days;
  if (days === undefined) return <>{LEAD}</>;
  if (days > 0) return <>Deleted and replaced files are kept for {plural(days, "day")}.</>;
  return (
    <>
      The trash is off: what is deleted is gone.{" "}
      <a href={links.section(project, "settings")}>Turn it on in the settings</a>
    </>
  );
}

interface TrashActions {
  page: Resource<Pages<TrashItem>>;
  loadMore: () => Promise<void>;
  restore: (ids: readonly string[]) => Promise<void>;
  /** Deletes items for good, after a question. */
  remove: (ids: readonly string[]) => Promise<void>;
  empty: () => Promise<void>;
}

function useTrash(project: string, drive: string): TrashActions {
  const app = useApp();
  const [page, loadMore] = usePages(
    (api, from, signal) => {
      const path = { project_id: project, drive_name: drive };
      const params = { path, query: { limit: PAGE, ...from } };
      return api.GET("/v1/{project_id}/{drive_name}/trash", { params, signal });
    },
    ({ items }) => items,
    [project, drive],
  );
  useLive({ project, drive }, page.reload);
  const files = new DriveFiles(app.api, { project, drive });
  const drop = (gone: ReadonlySet<string>) =>
    page.edit(({ items, last }) => ({ items: items.filter(({ id }) => !gone.has(id)), last }));
  const isNextPageDue = page.data?.items.length === 0 && page.data.last !== undefined;
  useEffect(() => {
    if (isNextPageDue) void page.reload();
  }, [isNextPageDue]);
  const remove = async (title: string, ids?: readonly string[]) => {
    const text = "This cannot be undone.";
    if (!await confirm(app, { title, text, action: "Delete for good" })) return;
    await files.removeItems(ids);
    drop(new Set(ids ?? page.data?.items.map(({ id }) => id)));
    app.toasts.success("Deleted for good");
  };
  return {
    page,
    loadMore,
    restore: async (ids) => {
      const { done, failed, hasReplaced } = await restoreAfterQuestion(app, files, ids);
      drop(new Set(done));
      if (hasReplaced) await page.reload();
      const [failure] = failed;
      if (failure !== undefined) {
        app.toasts.error(`Cannot restore ${plural(failed.length, "file")}: ${failure.error}`);
      } else if (done.length > 0) app.toasts.success(`Restored ${plural(done.length, "file")}`);
    },
    remove: (ids) => remove(`Delete ${plural(ids.length, "file")}?`, ids),
    empty: () => remove("Empty the trash?"),
  };
}

/** Restores items. Where other files have their names now, asks whether to replace these. */
async function restoreAfterQuestion(
  app: App,
  files: DriveFiles,
  ids: readonly string[],
): Promise<Outcome & { hasReplaced: boolean }> {
  const first = await files.restoreItems(ids);
  const taken = first.failed.filter(({ code }) => code === "file_exists");
  if (taken.length === 0) return { ...first, hasReplaced: false };
  const others = first.failed.filter((failure) => !taken.includes(failure));
  const isAgreed = await confirm(app, {
    title: `Replace ${plural(taken.length, "file")}?`,
    text: "Other files have these names now. They go to the trash in turn.",
    action: "Replace",
  });
  if (!isAgreed) return { done: first.done, failed: others, hasReplaced: false };
  const second = await files.restoreItems(taken.map(({ name }) => name), true);
  return {
    done: [...first.done, ...second.done],
    failed: [...others, ...second.failed],
    hasReplaced: second.done.length > 0,
  };
}

function TrashItems({ project, drive }: { project: string; drive: string }) {
  const { session } = useApp();
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set());
  const trash = useTrash(project, drive);
  return (
    <Loaded from={trash.page}>
      {({ items, last }) =>
        items.length === 0 && last !== undefined
          ? <Skeleton rows={8} />
          : items.length === 0
          ? <Empty icon={Trash2} title="The trash is empty" text="Deleted files appear here." />
          : (
            <div class="stack">
              <TrashToolbar {...{ items, selected, setSelected, trash }} />
              <Table
                caption={`The trash of the drive ${drive}`}
                columns={columnsOf(selected, setSelected)}
                rows={items}
                keyOf={({ id }) => id}
                actions={({ id, name }) =>
                  session.may("write") && (
                    <Button
                      kind="quiet"
                      aria-label={`Restore ${labelOf({ name })}`}
                      onClick={() => trash.restore([id])}
                    >
                      Restore
                    </Button>
                  )}
              />
              {last !== undefined && <Button onClick={trash.loadMore}>Show more</Button>}
            </div>
          )}
    </Loaded>
  );
}

function TrashToolbar({ items, selected, setSelected, trash }: {
  items: readonly TrashItem[];
  selected: ReadonlySet<string>;
  setSelected: (selected: ReadonlySet<string>) => void;
  trash: TrashActions;
}) {
  const { session } = useApp();
  const all = items.map(({ id }) => id);
  const chosen = all.filter((id) => selected.has(id));
  const isNone = chosen.length === 0;
  // Only a key for all names may empty the trash.
  const mayEmpty = session.current.value?.name_prefix === null;
  return (
    <div class="row">
      <Checkbox
        label={isNone ? "Select all" : `${plural(chosen.length, "file")} selected`}
        checked={chosen.length === all.length}
        onChange={(isChecked) => setSelected(new Set(isChecked ? all : []))}
      />
      <span class="push" />
      {session.may("write") && (
        <Button
          icon={RotateCcw}
          disabled={isNone}
          onClick={() => trash.restore(chosen)}
        >
          Restore
        </Button>
      )}
      {session.may("delete") && (mayEmpty || !isNone) && (
        <Button
          icon={Trash2}
          onClick={() => isNone ? trash.empty() : trash.remove(chosen)}
        >
          {isNone ? "Empty trash" : "Delete for good"}
        </Button>
      )}
    </div>
  );
}

function columnsOf(
  selected: ReadonlySet<string>,
  setSelected: (selected: ReadonlySet<string>) => void,
): Column<TrashItem>[] {
  const toggle = (id: string, isChecked: boolean) => {
    const next = new Set(selected);
    if (isChecked) next.add(id);
    else next.delete(id);
    setSelected(next);
  };
  return [
    {
      title: "Name",
      isMain: true,
      cell: ({ id, name }) => (
        <Checkbox
          label={labelOf({ name })}
          checked={selected.has(id)}
          onChange={(isChecked) => toggle(id, isChecked)}
        />
      ),
    },
    { title: "From", cell: ({ name }) => folderOf({ name }) || "—" },
    { title: "Size", isNumber: true, cell: ({ size }) => formatBytes(size) },
    {
      title: "Deleted",
      isMinor: true,
      cell: ({ deleted, reason }) =>
        `${reason === "replaced" ? "Replaced" : "Deleted"} ${formatRelative(deleted)}`,
    },
    { title: "Removed", isMinor: true, cell: ({ expires }) => formatRelative(expires) },
  ];
}

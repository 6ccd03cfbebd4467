import { RotateCcw, Trash2 } from "lucide";
import { useState } from "preact/hooks";
import { useApp } from "../core/context.ts";
import { formatBytes, formatRelative, plural } from "../core/format.ts";
import { links } from "../core/links.ts";
import { DriveFilter } from "../files/drive_filter.tsx";
import { type Entry, folderOf, labelOf, shownName } from "../files/entry.ts";
import { typeOf } from "../files/listing/kinds.ts";
import { KindIcon } from "../files/view/kind_icon.tsx";
import { useProject } from "../projects/use_project.ts";
import { Button } from "../ui/button.tsx";
import { Checkbox } from "../ui/field.tsx";
import { Empty, Loaded } from "../ui/loaded.tsx";
import { FilterBar, useQuery } from "../ui/filter_bar.tsx";
import { Page } from "../ui/page.tsx";
import { type Column, Table } from "../ui/table.tsx";
import { rowsOf, type TrashRow } from "./trash_rows.ts";
import { type TrashActions, useTrash } from "./use_trash.ts";

/** The deleted and replaced files of a project, which can be restored. */
export function Trash({ project }: { project: string }) {
  const [query] = useQuery();
  const drive = query.get("drive") ?? "";
  return (
    <Page title="Trash" lead={<TrashLead project={project} />}>
      <TrashList key={drive} {...{ project, drive }} text={query.get("q") ?? ""} />
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
      <a href={links.section(project, "settings")}>Turn it on in the settings</a>.
    </>
  );
}

/** The keys of selected rows. */
type Selected = ReadonlySet<string>;

function TrashList({ project, drive, text }: { project: string; drive: string; text: string }) {
  const { session } = useApp();
  const [selected, setSelected] = useState<Selected>(new Set());
  const actions = useTrash(project, drive);
  return (
    <Loaded from={actions.trash}>
      {({ drives, parts }) => {
        const all = rowsOf(parts);
        const hasMore = parts.some(({ last }) => last !== undefined);
        const rows = all.filter(({ name }) => includes(name, text));
        const columns = columnsOf(selected, setSelected, drive === "" && drives.length > 1);
        return (
          <div class="stack">
            <FilterBar label="Search in the trash">
              <DriveFilter drives={drives} />
            </FilterBar>
            {all.length === 0 && !hasMore
              ? <Empty icon={Trash2} title="The trash is empty" text="Deleted files appear here." />
              : (
                <>
                  <TrashToolbar {...{ rows, selected, setSelected, actions }} />
                  <Table
                    caption={drive === "" ? "The trash" : `The trash of the drive ${drive}`}
                    columns={columns}
                    rows={rows}
                    keyOf={({ key }) => key}
                    empty={<Empty icon={Trash2} title={`No name contains “${text}”`} />}
                    actions={(row) =>
                      session.may("write") && (
                        <Button
                          kind="quiet"
                          aria-label={`Restore ${labelOf(row)}`}
                          onClick={() => actions.restore([row])}
                        >
                          Restore
                        </Button>
                      )}
                  />
                </>
              )}
            {hasMore && <Button onClick={actions.loadMore}>Show more</Button>}
          </div>
        );
      }}
    </Loaded>
  );
}

function includes(name: string, text: string): boolean {
  return name.toLowerCase().includes(text.trim().toLowerCase());
}

function TrashToolbar({ rows, selected, setSelected, actions }: {
  rows: readonly TrashRow[];
  selected: Selected;
  setSelected: (selected: Selected) => void;
  actions: TrashActions;
}) {
  const { session } = useApp();
  const chosen = rows.filter(({ key }) => selected.has(key));
  const count = chosen.reduce((sum, { items }) => sum + items.length, 0);
  const isNone = chosen.length === 0;
  // Only a key for all names may empty the trash.
  const mayEmpty = session.current.value?.name_prefix === null;
  return (
    <div class="row">
      <Checkbox
        label={isNone ? "Select all" : `${plural(count, "file")} selected`}
        checked={!isNone && chosen.length === rows.length}
        onChange={(isChecked) => setSelected(new Set(isChecked ? rows.map(({ key }) => key) : []))}
      />
      <span class="push" />
      {session.may("write") && !isNone && (
        <Button
          icon={RotateCcw}
          onClick={() => actions.restore(chosen)}
        >
          Restore
        </Button>
      )}
      {session.may("delete") && (mayEmpty || !isNone) && (
        <Button
          icon={Trash2}
          onClick={() => isNone ? actions.empty() : actions.remove(chosen)}
        >
          {isNone ? "Empty trash" : "Delete for good"}
        </Button>
      )}
    </div>
  );
}

function columnsOf(
  selected: Selected,
  setSelected: (selected: Selected) => void,
  hasDrives: boolean,
): Column<TrashRow>[] {
  const toggle = (key: string, isChecked: boolean) => {
    const changed = new Set(selected);
    if (isChecked) changed.add(key);
    else changed.delete(key);
    setSelected(changed);
  };
  return [
    {
      title: "Name",
      isMain: true,
      cell: (row) => (
        // Below the name: columns of their own would leave it too little room beside the navigation.
        <Checkbox
          label={<Label row={row} />}
          hint={placeOf(row, hasDrives)}
          checked={selected.has(row.key)}
          onChange={(isChecked) => toggle(row.key, isChecked)}
        />
      ),
    },
    { title: "Size", isNumber: true, cell: sizeOf },
    { title: "Deleted", isMinor: true, cell: reasonOf },
    {
      title: "Removed",
      isMinor: true,
      cell: ({ items }) => formatRelative(items[0]?.expires),
    },
  ];
}

/** Where it was; `undefined` for the top folder of the only drive. */
function placeOf({ drive, name }: TrashRow, hasDrives: boolean): string | undefined {
  const place = `${hasDrives ? `${drive}/` : ""}${folderOf({ name })}`;
  return place === "" ? undefined : shownName(place);
}

function Label({ row: { name, items: [first] } }: { row: TrashRow }) {
  const entry: Entry = name.endsWith("/")
    ? { kind: "folder", name }
    : { kind: "file", name, content_type: first?.content_type ?? "" };
  return (
    <span class="line">
      <KindIcon kind={typeOf(entry).kind} />
      <bdi>{shownName(labelOf({ name }))}</bdi>
    </span>
  );
}

function sizeOf({ name, items, isPartial }: TrashRow): string {
  const size = formatBytes(items.reduce((sum, { size }) => sum + size, 0));
  if (!name.endsWith("/")) return size;
  return `${isPartial ? "At least " : ""}${size}, ${plural(items.length, "file")}`;
}

function reasonOf({ items: [first] }: TrashRow): string {
  return `${first?.reason === "replaced" ? "Replaced" : "Deleted"} ${
    formatRelative(first?.deleted)
  }`;
}

import { Activity } from "lucide";
import { useMemo, useState } from "preact/hooks";
import { useApp } from "../core/context.ts";
import { formatBytes, formatNumber, formatTime } from "../core/format.ts";
import { links } from "../core/links.ts";
import { useLive, useResource } from "../core/resource.ts";
import { DriveFilter } from "../files/drive_filter.tsx";
import { shownName } from "../files/entry.ts";
import { useProject } from "../projects/use_project.ts";
import { confirm } from "../ui/form.tsx";
import { SelectField } from "../ui/field.tsx";
import { Empty, Loaded, Skeleton } from "../ui/loaded.tsx";
import { Page } from "../ui/page.tsx";
import { type Column, Table } from "../ui/table.tsx";
import { ActivityTabs } from "./events.tsx";
import { type FileChange, FileChanges, MAX_CHANGES } from "./file_changes.ts";
import { FilterBar, FilterSelect, useQuery } from "../ui/filter_bar.tsx";

/** What happened to the files of a project, as far as its feed of changes tells. */
export function FileEvents({ project }: { project: string }) {
  const { api } = useApp();
  const info = useProject(project);
  const days = info.data?.change_days ?? 0;
  const [isEnding, setEnding] = useState(false);
  const keep = async (days: number) => {
    // A list that follows the feed would ask for what is no longer there.
    setEnding(days === 0);
    try {
      await api.PATCH("/admin/v1/projects/{project_id}", {
        params: { path: { project_id: project } },
        body: { change_days: days },
      });
      await info.reload();
    } finally {
      setEnding(false);
    }
  };
  return (
    <Page
      title="Activity"
      lead="Files that were stored, moved and deleted."
      actions={info.data && <KeptDays days={days} onChange={keep} />}
    >
      <div class="stack">
        <ActivityTabs project={project} isFiles />
        <Loaded from={info}>
          {({ change_days = 0 }) =>
            change_days === 0
              ? (
                <Empty
                  icon={Activity}
                  title="Changes of files are not kept"
                  text="Choose above for how many days the project keeps them. Each takes up to 200 bytes."
                />
              )
              : isEnding
              ? <Skeleton rows={4} />
              : <Changes key={project} project={project} />}
        </Loaded>
      </div>
    </Page>
  );
}

const DAYS = [["0", "Off"], ["7", "7 days"], ["30", "30 days"], ["90", "90 days"]] as const;

/** How long the changes of files are kept. */
function KeptDays({ days, onChange }: { days: number; onChange: (days: number) => Promise<void> }) {
  const app = useApp();
  const now = String(days);
  const options = DAYS.some(([value]) => value === now)
    ? DAYS
    : [...DAYS, [now, `${formatNumber(days)} days`] as const];
  const choose = async (value: string) => {
    const isOff = value === "0";
    const isSure = !isOff || await confirm(app, {
      title: "Keep no changes of files?",
      text:
        "Those that were kept are removed. Programs that follow the feed have to list the drive again.",
      action: "Turn off",
    });
    if (isSure) await onChange(Number(value)).catch((error) => app.toasts.error(error));
  };
  return <SelectField label="Kept for" value={now} options={options} onChange={choose} />;
}

const TYPES = [["put", "Stored"], ["move", "Moved"], ["delete", "Deleted"]] as const;

function Changes({ project }: { project: string }) {
  const { api } = useApp();
  const [query] = useQuery();
  const feed = useMemo(() => new FileChanges(api, project), []);
  const list = useResource((signal) => feed.read(signal), [project]);
  useLive({ project }, list.reload);
  const text = (query.get("q") ?? "").toLowerCase();
  const [type, drive] = [query.get("type") ?? "", query.get("drive") ?? ""];
  const passes = (change: FileChange) =>
    (type === "" || change.type === type) && (drive === "" || change.drive === drive) &&
    (text === "" || `${change.name}\n${change.from ?? ""}`.toLowerCase().includes(text));
  return (
    <Loaded from={list}>
      {({ drives, changes, unread }) => (
        <div class="stack">
          <FilterBar label="Search for names">
            <FilterSelect name="type" label="What happened" all="All changes" options={TYPES} />
            <DriveFilter drives={drives} />
          </FilterBar>
          {unread.length > 0 && (
            <p class="notice warn">
              The newest changes are missing of drives that have very many:{" "}
              {unread.join(", ")}. The command “kvdrive changes” lists them.
            </p>
          )}
          <Table
            caption="Changes of files"
            columns={columnsOf(project)}
            rows={changes.filter(passes)}
            keyOf={({ drive, id }) => `${drive}/${id}`}
            empty={
              <Empty
                icon={Activity}
                title={changes.length > 0 ? "No change matches" : "Nothing has happened yet"}
              />
            }
          />
          {changes.length >= MAX_CHANGES && (
            <p class="hint">The newest {formatNumber(MAX_CHANGES)} changes are shown.</p>
          )}
        </div>
      )}
    </Loaded>
  );
}

function columnsOf(project: string): Column<FileChange>[] {
  return [
    {
      title: "Name",
      isMain: true,
      cell: ({ type, drive, name }) =>
        type === "delete"
          ? shownName(name)
          : <a href={links.entry(project, drive, name)}>{shownName(name)}</a>,
    },
    { title: "What", cell: whatOf },
    { title: "Drive", isMinor: true, cell: ({ drive }) => drive },
    {
      title: "Size",
      isNumber: true,
      isMinor: true,
      cell: ({ size }) => size === undefined ? "" : formatBytes(size),
    },
    { title: "When", cell: ({ at }) => <time dateTime={at}>{formatTime(at)}</time> },
  ];
}

function whatOf({ type, from }: FileChange): string {
  const label = TYPES.find(([value]) => value === type)?.[1] ?? type;
  return from === undefined ? label : `${label} from ${shownName(from)}`;
}

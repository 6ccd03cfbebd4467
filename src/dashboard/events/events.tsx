import { Activity } from "lucide";
import { useMemo } from "preact/hooks";
import { useApp } from "../core/context.ts";
import { formatTime } from "../core/format.ts";
import { links } from "../core/links.ts";
import { usePages } from "../core/resource.ts";
import { Button } from "../ui/button.tsx";
import { Empty, Loaded } from "../ui/loaded.tsx";
import { Page } from "../ui/page.tsx";
import { type Column, Table } from "../ui/table.tsx";
import { loadNames, loadProjectNames, type Names, NO_NAMES } from "./event_names.ts";
import { kindIn, KINDS } from "./event_text.ts";
import { FilterBar, FilterSelect, Tabs, useQuery } from "../ui/filter_bar.tsx";
import { type EventRow, readEvents } from "./read_events.ts";

/** Who changed what: of a project, or of the whole server. */
export function Events({ project }: { project?: string }) {
  const [query] = useQuery();
  const filter = { kind: kindIn(query), text: (query.get("q") ?? "").toLowerCase() };
  const names = useNames(project);
  const [list, loadMore] = usePages(
    async (api, from, signal) => ({
      data: await readEvents(api, { project, names: await names(), ...filter }, from, signal),
    }),
    ({ rows }) => rows,
    [project, filter],
  );
  const isFiltering = filter.kind !== undefined || filter.text !== "";
  return (
    <Page
      title="Activity"
      lead="Changes of keys, links, applications and settings. Kept for 90 days."
    >
      <div class="stack">
        {project !== undefined && <ActivityTabs project={project} />}
        <FilterBar label="Search in the activity">
          <FilterSelect
            name="kind"
            label="Kind"
            all="All kinds"
            options={Object.entries(KINDS).map(([kind, [label]]) => [kind, label])}
          />
        </FilterBar>
        <Loaded from={list}>
          {({ items, last }) => (
            <div class="stack">
              <Table
                caption="Events"
                columns={COLUMNS}
                rows={items}
                keyOf={({ id }) => id}
                empty={
                  <Empty
                    icon={Activity}
                    title={isFiltering ? "No event matches" : "Nothing has happened yet"}
                    text={last === undefined ? undefined : "Older events were not searched yet."}
                  />
                }
              />
              {last !== undefined && <Button onClick={loadMore}>Show more</Button>}
            </div>
          )}
        </Loaded>
      </div>
    </Page>
  );
}

/** Leads from the events of a project to those of its files and back. */
export function ActivityTabs({ project, isFiles = false }: { project: string; isFiles?: boolean }) {
  const { session } = useApp();
  if (!session.may("list")) return null;
  return (
    <Tabs
      label="Activity"
      tabs={[
        ["Administration", links.section(project, "events"), !isFiles],
        ["Files", links.section(project, "events", ["files"]), isFiles],
      ]}
    />
  );
}

/** Returns a function that loads names once. The list is shown without names that cannot be loaded. */
function useNames(project: string | undefined): () => Promise<Names> {
  const app = useApp();
  return useMemo(() => {
    let names: Promise<Names> | undefined;
    const load = () =>
      project === undefined ? loadProjectNames(app.api) : loadNames(app, project, null);
    return () => names ??= load().catch(() => NO_NAMES);
  }, [project]);
}

const COLUMNS: Column<EventRow>[] = [
  { title: "What", isMain: true, cell: ({ what }) => what },
  { title: "By", cell: ({ by }) => by },
  { title: "From", isMinor: true, cell: ({ address }) => address },
  { title: "When", cell: ({ at }) => <time dateTime={at}>{formatTime(at)}</time> },
];

import { Activity } from "lucide";
import type { Schemas } from "../core/api.ts";
import { formatTime } from "../core/format.ts";
import { usePages } from "../core/resource.ts";
import { Button } from "../ui/button.tsx";
import { Empty, Loaded } from "../ui/loaded.tsx";
import { Page } from "../ui/page.tsx";
import { type Column, Table } from "../ui/table.tsx";
import { actorText, eventText } from "./event_text.ts";

type Event = Schemas["Event"];

/** Events that one page of the server has. */
const PAGE = 100;

/** Who changed what: of a project, or of the whole server. */
export function Events({ project }: { project?: string }) {
  type Page = Promise<{ data?: Schemas["EventList"] }>;
  const [list, loadMore] = usePages(
    (api, from, signal): Page => {
      const query = { limit: PAGE, ...from };
      if (project === undefined) return api.GET("/admin/v1/events", { params: { query }, signal });
      const params = { path: { project_id: project }, query };
      return api.GET("/admin/v1/projects/{project_id}/events", { params, signal });
    },
    ({ events }) => events,
    [project],
  );
  return (
    <Page
      title="Activity"
      lead="Changes of keys, links, applications and settings. Kept for 90 days."
    >
      <Loaded from={list}>
        {({ items, last }) => (
          <div class="stack">
            <Table
              caption="Events"
              columns={COLUMNS}
              rows={items}
              keyOf={({ id }) => id}
              empty={<Empty icon={Activity} title="Nothing has happened yet" />}
            />
            {last !== undefined && <Button onClick={loadMore}>Show more</Button>}
          </div>
        )}
      </Loaded>
    </Page>
  );
}

const COLUMNS: Column<Event>[] = [
  { title: "What", isMain: true, cell: (event) => eventText(event) },
  { title: "By", cell: ({ by }) => actorText(by) },
  { title: "From", isMinor: true, cell: ({ address }) => address },
  { title: "When", cell: ({ at }) => <time dateTime={at}>{formatTime(at)}</time> },
];

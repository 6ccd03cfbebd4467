import { useState } from "preact/hooks";
import type { Schemas } from "../core/api.ts";
import { formatBytes, formatNumber, formatUtcDay, plural } from "../core/format.ts";
import { useAnswer } from "../core/resource.ts";
import { Facts, Meter } from "../ui/facts.tsx";
import { SelectField } from "../ui/field.tsx";
import { Loaded } from "../ui/loaded.tsx";
import { Page, Section } from "../ui/page.tsx";
import { Chart } from "./chart.tsx";
import { useProject } from "./use_project.ts";

type Day = Schemas["UsageDay"];

const RANGES = [["30", "30 days"], ["90", "90 days"], ["400", "400 days"]] as const;
type Range = (typeof RANGES)[number][0];

/** What a project uses now, and what it used on each day. */
export function Usage({ project }: { project: string }) {
  const [range, setRange] = useState<Range>("30");
  const info = useProject(project);
  const history = useAnswer((api, signal) => {
    const params = { path: { project_id: project }, query: { days: Number(range) } };
    return api.GET("/admin/v1/projects/{project_id}/usage", { params, signal });
  }, [project, range]);
  return (
    <Page title="Usage">
      <Loaded from={info}>{(info) => <UsageNow info={info} />}</Loaded>
      <Section
        title="Over time"
        actions={<SelectField label="Range" value={range} options={RANGES} onChange={setRange} />}
      >
        <Loaded from={history}>{({ days }) => <History days={days} />}</Loaded>
      </Section>
    </Page>
  );
}

function UsageNow({ info }: { info: Schemas["ProjectDetails"] }) {
  const { bytes, trash_bytes, trash_files, open_upload_bytes, max_bytes, max_files, files } = info;
  const used = bytes + trash_bytes + open_upload_bytes;
  const limit = max_bytes === null ? "" : ` of ${formatBytes(max_bytes)}`;
  return (
    <div class="stack">
      <div class="card stack">
        <p class="usage-total">
          <strong>{formatBytes(used)}</strong>
          {limit} used
        </p>
        {max_bytes === null ? null : <Meter value={used} max={max_bytes} label="Used space" />}
      </div>
      <Facts
        facts={[
          ["Files", `${plural(files, "file")}, ${formatBytes(bytes)}`],
          ["Trash", `${plural(trash_files, "file")}, ${formatBytes(trash_bytes)}`],
          ["Uploads in progress", formatBytes(open_upload_bytes)],
          max_files !== null && [
            "Limit of files",
            `${formatNumber(files + trash_files)} of ${formatNumber(max_files)}`,
          ],
        ]}
      />
    </div>
  );
}

/** More days than this are shown as weeks: bars of less than two pixels cannot be told apart. */
const MAX_BARS = 100;
const WEEK = 7;

function History({ days }: { days: readonly Day[] }) {
  const size = days.length > MAX_BARS ? WEEK : 1;
  const bars = groupsOf(days, size);
  const labels = bars.map((bar) =>
    `${size > 1 ? "Week to " : ""}${formatUtcDay(bar.at(-1)!.date)}`
  );
  // Storage is counted at the end of each day or week, traffic over all of it.
  const stored = (title: string, of: (day: Day) => number, format: (value: number) => string) => (
    <Chart {...{ title, labels, format }} values={bars.map((bar) => of(bar.at(-1)!))} />
  );
  const sent = (title: string, of: (day: Day) => number, format: (value: number) => string) => (
    <Chart
      {...{ title, labels, format }}
      values={bars.map((bar) => bar.reduce((sum, day) => sum + of(day), 0))}
      total={plural(days.length, "day")}
    />
  );
  return (
    <div class="charts">
      {stored("Space", ({ bytes }) => bytes, formatBytes)}
      {stored("Files", ({ files }) => files, formatNumber)}
      {sent("Requests", ({ requests }) => requests, formatNumber)}
      {sent("Sent to clients", ({ sent }) => sent, formatBytes)}
      {sent("Received", ({ received }) => received, formatBytes)}
    </div>
  );
}

/** Cuts a list into groups of a size; the first one may be smaller. */
function groupsOf<T>(all: readonly T[], size: number): T[][] {
  const first = all.length % size || size;
  return Array.from(
    { length: Math.ceil(all.length / size) },
    (_, index) => all.slice(Math.max(0, first + (index - 1) * size), first + index * size),
  );
}

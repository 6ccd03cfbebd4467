import { SearchX } from "lucide";
import type { Api } from "../core/api.ts";
import { inParallel } from "../core/concurrency.ts";
import { useApp } from "../core/context.ts";
import { formatBytes, formatNumber, formatTime, plural } from "../core/format.ts";
import { links } from "../core/links.ts";
import { useResource } from "../core/resource.ts";
import { Empty, Loaded } from "../ui/loaded.tsx";
import { type Column, Table } from "../ui/table.tsx";
import { driveNames } from "./drive_filter.tsx";
import { type Entry, folderOf, labelOf, shownName } from "./entry.ts";
import { readPage } from "./listing/listing.ts";

/** Hits that are shown: another word finds better. */
const MAX_HITS = 2000;
/** Requests for each drive at most; each looks at 100,000 names. */
const MAX_REQUESTS = 20;

type Hit = Entry & { drive: string };

/** The files of all drives of a project whose names contain a text. */
export function HitsOfDrives({ project, text }: { project: string; text: string }) {
  const { api } = useApp();
  const found = useResource((signal) => search(api, project, text, signal), [project, text]);
  return (
    <Loaded from={found}>
      {({ hits, isAll }) => (
        <div class="stack">
          <p class="hint" role="status">
            {isAll
              ? plural(hits.length, "hit")
              : `The first ${formatNumber(hits.length)} hits: enter more letters to find others`}
          </p>
          <Table
            caption="Hits in all drives"
            columns={columnsOf(project)}
            rows={hits}
            keyOf={({ drive, name }) => `${drive}/${name}`}
            empty={
              <Empty
                icon={SearchX}
                title={`No name contains “${text}”`}
                text="All drives of the project were searched."
              />
            }
          />
        </div>
      )}
    </Loaded>
  );
}

/** Searches all drives, a few at once, until there are enough hits. @throws {ApiError} */
async function search(
  api: Api,
  project: string,
  contains: string,
  signal: AbortSignal,
): Promise<{ hits: Hit[]; isAll: boolean }> {
  const hits: Hit[] = [];
  let isAll = true;
  await inParallel(await driveNames(api, project, signal), async (drive) => {
    let last: string | undefined;
    for (let requests = 0; requests < MAX_REQUESTS && hits.length <= MAX_HITS; requests++) {
      const place = { project, drive, path: "" };
      const page = await readPage(api, place, { last, contains }, signal);
      hits.push(...page.entries.map((entry) => ({ ...entry, drive })));
      last = page.last;
      if (last === undefined) return;
    }
    isAll = false;
  });
  const order = new Intl.Collator("en", { numeric: true });
  hits.sort((a, b) => order.compare(a.drive, b.drive) || order.compare(a.name, b.name));
  return { hits: hits.slice(0, MAX_HITS), isAll: isAll && hits.length <= MAX_HITS };
}

function columnsOf(project: string): Column<Hit>[] {
  return [
    {
      title: "Name",
      isMain: true,
      cell: (hit) => (
        <a href={links.entry(project, hit.drive, hit.name)}>{shownName(labelOf(hit))}</a>
      ),
    },
    {
      title: "Folder",
      cell: (hit) => (
        <a href={links.folder(project, hit.drive, folderOf(hit))}>{shownName(folderOf(hit))}</a>
      ),
    },
    { title: "Drive", cell: ({ drive }) => drive },
    {
      title: "Size",
      isNumber: true,
      isMinor: true,
      cell: ({ size }) => size === undefined ? "" : formatBytes(size),
    },
    {
      title: "Modified",
      isMinor: true,
      cell: ({ modified }) => modified === undefined ? "" : formatTime(modified),
    },
  ];
}

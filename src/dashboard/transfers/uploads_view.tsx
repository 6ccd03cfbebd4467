import { Upload } from "lucide";
import { type Api, dataOf } from "../core/api.ts";
import { inParallel } from "../core/concurrency.ts";
import { useApp } from "../core/context.ts";
import { formatBytes, formatRelative } from "../core/format.ts";
import { type Resource, useLive, useResource } from "../core/resource.ts";
import { driveNames } from "../files/drive_filter.tsx";
import { labelOf } from "../files/entry.ts";
import { Collection } from "../ui/collection.tsx";
import { Empty } from "../ui/loaded.tsx";
import { Page, Section } from "../ui/page.tsx";
import type { Removal } from "../ui/remove_button.tsx";
import type { Column } from "../ui/table.tsx";
import { UploadActions, UploadSummary } from "./card.tsx";
import { totalsOf } from "./totals.ts";
import { useSharedTransfers } from "./transfers.ts";
import type { ServerCalls, UploadTarget } from "./upload/server_calls.ts";
import { UploadRows } from "./upload_rows.tsx";

/** Rows of a list. */
const MAX_ROWS = 200;

/** An open upload on the server, and what has arrived of it. */
interface ServerUpload extends UploadTarget {
  id: string;
  created: string;
  expires: string;
  /** Bytes. */
  received: number;
}

const COLUMNS: Column<ServerUpload>[] = [
  {
    title: "File",
    isMain: true,
    cell: ({ name, drive }) => (
      <span class="title-link">
        {name}
        <small>{drive}</small>
      </span>
    ),
  },
  { title: "Received", isNumber: true, cell: ({ received }) => formatBytes(received) },
  { title: "Started", cell: ({ created }) => formatRelative(created) },
  { title: "Expires", isMinor: true, cell: ({ expires }) => formatRelative(expires) },
];

/** The uploads of this browser, and what is unfinished on the server. */
export function Uploads({ project }: { project: string }) {
  const { api } = useApp();
  const transfers = useSharedTransfers();
  const { server } = transfers;
  void transfers.version.value;
  const open = useResource((signal) => openUploads({ api, server, project }, signal), [project]);
  const totals = totalsOf(transfers.tasks);
  const { reload } = open;
  useLive({ project }, reload);
  const own = new Set(transfers.tasks.map(({ usedId }) => usedId));
  const others = { ...open, data: open.data?.filter(({ id }) => !own.has(id)) };
  const hasTasks = transfers.tasks.length > 0;
  return (
    <Page title="Uploads">
      {hasTasks && (
        <Section title="This browser">
          <div class="transfer-list frame">
            <div class="transfer-head line">
              <UploadSummary totals={totals} step="" />
              <UploadActions totals={totals} />
            </div>
            <UploadRows max={MAX_ROWS} />
          </div>
        </Section>
      )}
      <Others {...{ from: others, hasTasks }} />
    </Page>
  );
}

function Others({ from, hasTasks }: {
  from: Resource<ServerUpload[]>;
  hasTasks: boolean;
}) {
  const { session } = useApp();
  const { server } = useSharedTransfers();
  if (from.data?.length === 0) {
    return hasTasks ? null : (
      <Empty
        icon={Upload}
        title="No uploads"
        text="Files on their way to the server are listed here, also those of other programs."
      />
    );
  }
  return (
    <Collection
      title="Elsewhere"
      lead="Unfinished uploads of other browsers and programs."
      isSection
      from={from}
      rows={(uploads) => uploads}
      keyOf={({ id }) => id}
      columns={COLUMNS}
      empty="None"
      {...(session.may("write") ? { remove: removalOf(server) } : {})}
    />
  );
}

function removalOf(server: ServerCalls): (upload: ServerUpload) => Removal {
  return (upload) => ({
    label: `Abort the upload of ${labelOf(upload)}`,
    title: `Abort the upload of “${labelOf(upload)}”?`,
    text: "The program that sends it fails. What has arrived is deleted.",
    action: "Abort upload",
    done: "Upload aborted",
    run: () => server.abort(upload, upload.id),
  });
}

/** Returns the open uploads of a project, the oldest first. @throws {ApiError} */
async function openUploads(
  { api, server, project }: { api: Api; server: ServerCalls; project: string },
  signal: AbortSignal,
): Promise<ServerUpload[]> {
  const drives = await driveNames(api, project, signal);
  const lists = await inParallel(drives, async (drive_name) => {
    const { uploads } = await dataOf(
      api.GET("/v1/{project_id}/{drive_name}/uploads", {
        params: { path: { project_id: project, drive_name }, query: { limit: MAX_ROWS } },
        signal,
      }),
    );
    return uploads.map(({ upload_id: id, name, created, expires }) => (
      { project, drive: drive_name, name, id, created, expires }
    ));
  });
  const shown = lists.flat().sort((a, b) => a.created < b.created ? -1 : 1).slice(0, MAX_ROWS);
  const open = await inParallel(shown, async (upload): Promise<ServerUpload | undefined> => {
    const parts = await server.parts(upload, upload.id, signal);
    return parts && { ...upload, received: parts.reduce((sum, { size }) => sum + size, 0) };
  });
  // Some may have been completed or aborted since the list was loaded.
  return open.filter((upload) => upload !== undefined);
}

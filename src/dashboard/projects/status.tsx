import { CircleCheck, TriangleAlert } from "lucide";
import type { Schemas } from "../core/api.ts";
import { formatBytes, formatMoment, formatNumber, plural } from "../core/format.ts";
import { links } from "../core/links.ts";
import { useAnswer } from "../core/resource.ts";
import { folderOf, labelOf } from "../files/entry.ts";
import { CopyButton } from "../ui/copy.tsx";
import { type Fact, Facts, Meter } from "../ui/facts.tsx";
import { Icon } from "../ui/icon.tsx";
import { Loaded } from "../ui/loaded.tsx";
import { Page, Section } from "../ui/page.tsx";
import { Table } from "../ui/table.tsx";

type Status = Schemas["Status"];
type Snapshots = NonNullable<Status["snapshots"]>;

export function Status() {
  const status = useAnswer((api, signal) => api.GET("/admin/v1/status", { signal }), []);
  return (
    <Page title="Health">
      <Loaded from={status}>
        {(status) => (
          <div class="sections stack">
            <Warnings status={status} />
            <Safety status={status} />
            <Damaged files={status.integrity.damaged} />
            <Storage status={status} />
            <Program status={status} />
          </div>
        )}
      </Loaded>
    </Page>
  );
}

function Warnings({ status: { warnings, advice } }: { status: Status }) {
  if (warnings.length + advice.length === 0) {
    return (
      <p class="notice good">
        <Icon of={CircleCheck} />
        Everything is in order.
      </p>
    );
  }
  const notice = (kind: string) => (text: string) => <Notice key={text} {...{ kind, text }} />;
  return (
    <div class="stack" role="alert">
      {warnings.map(notice("bad"))}
      {advice.map(notice("warn"))}
    </div>
  );
}

/** What is wrong, and how to cure it: the server sets commands between backquotes. */
function Notice({ kind, text }: { kind: string; text: string }) {
  const pieces = `${text}.`.split("`");
  return (
    <div class={`notice ${kind}`}>
      <Icon of={TriangleAlert} />
      <p>
        {pieces.map((piece, index) =>
          index % 2 === 0 ? piece : (
            <span key={index} class="command">
              <code>{piece}</code>
              <CopyButton text={piece} label={`Copy ${piece}`} />
            </span>
          )
        )}
      </p>
    </div>
  );
}

function Safety({ status: { backups, snapshots, integrity } }: { status: Status }) {
  return (
    <Section title="Safety of files">
      <Facts
        facts={[
          ...backups === null && snapshots !== null
            ? []
            : [["Last backup", backupText(backups)] as const],
          ...snapshots === null ? [] : snapshotFacts(snapshots),
          ["Last check of all bytes", checkText(integrity)],
          ["Damaged files", formatNumber(integrity.damaged_files)],
        ]}
      />
    </Section>
  );
}

function backupText(backups: Status["backups"]): string {
  if (backups === null) return "The server makes none";
  return backups.newest === null ? "None yet" : formatMoment(backups.newest);
}

function snapshotFacts({ target, newest, next, bytes, added }: Snapshots): Fact[] {
  return [
    ["Last snapshot", newest === null ? "None yet" : formatMoment(newest)],
    newest !== null && [
      "Its size",
      `${formatBytes(bytes ?? 0)}, of which ${formatBytes(added ?? 0)} are new`,
    ],
    next !== null && ["Next snapshot", formatMoment(next)],
    ["Snapshots are in", target],
  ];
}

function checkText({ last_check_began, last_check_ended, progress }: Schemas["Integrity"]): string {
  if (last_check_began === null) return "None yet";
  if (last_check_ended === null) return `Running: ${Math.floor(progress * 100)} %`;
  return formatMoment(last_check_ended);
}

function Damaged({ files }: { files: Schemas["Integrity"]["damaged"] }) {
  if (files.length === 0) return null;
  return (
    <Section title="Damaged files" lead="Restore them from a backup, or replace or delete them.">
      <Table
        caption="Damaged files"
        rows={files}
        keyOf={({ project_id, drive_name, name }) =>
          `${project_id}/${drive_name}/${name}`}
        columns={[
          {
            title: "File",
            isMain: true,
            cell: (file) => (
              <a href={links.folder(file.project_id, file.drive_name, folderOf(file))}>
                {labelOf(file)}
              </a>
            ),
          },
          {
            title: "Project",
            cell: ({ project_id }) =>
              project_id,
          },
          { title: "Drive", cell: ({ drive_name }) => drive_name },
          { title: "Problem", cell: ({ problem }) => problem },
        ]}
      />
    </Section>
  );
}

function Storage({ status }: { status: Status }) {
  const { disk: { total, free }, store, projects, files, bytes } = status;
  return (
    <Section title="Storage">
      {total === null || free === null ? null : (
        <div class="card stack">
          <p>
            <strong>{formatBytes(free)}</strong> free of {formatBytes(total)}
          </p>
          <Meter value={total - free} max={total} label="Used part of the disk" />
        </div>
      )}
      <Facts
        facts={[
          ["Stored", `${plural(files, "file")}, ${formatBytes(bytes)}`],
          ["Projects", formatNumber(projects)],
          [
            "Store",
            store.kind === "shared"
              ? "A shared database"
              : `A file${store.bytes === null ? "" : ` of ${formatBytes(store.bytes)}`}`,
          ],
        ]}
      />
    </Section>
  );
}

function Program({ status }: { status: Status }) {
  const { version, deno, build, started, processes, s3, uploads, downloads, memory } = status;
  return (
    <Section title="Server">
      <Facts
        facts={[
          ["Version", `${version} (${build}, Deno ${deno})`],
          ["Started", formatMoment(started)],
          ["Processes", formatNumber(processes)],
          ["S3", s3 ?? "Off"],
          ["Memory", formatBytes(memory.resident)],
          [
            "At this moment",
            `${plural(uploads.running, "upload")} and ${plural(downloads.running, "download")}`,
          ],
          ["Open uploads in parts", formatNumber(uploads.open)],
        ]}
      />
    </Section>
  );
}

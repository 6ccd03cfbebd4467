import { Link as LinkIcon } from "lucide";
import { useApp } from "../core/context.ts";
import { formatDate } from "../core/format.ts";
import { links } from "../core/links.ts";
import { DriveFilter, useOfDrives } from "../files/drive_filter.tsx";
import { folderOf, labelOf } from "../files/entry.ts";
import { OpenLink } from "../ui/button.tsx";
import { CopyButton } from "../ui/copy.tsx";
import { Empty, Loaded } from "../ui/loaded.tsx";
import { Page } from "../ui/page.tsx";
import { RemoveButton } from "../ui/remove_button.tsx";
import { type Column, Table } from "../ui/table.tsx";
import { type DriveLinks, linksOf, type ShareLink } from "./drive_links.ts";
import { LinkLimits } from "./link_item.tsx";

/** A link, and the links of its drive. */
interface Row {
  link: ShareLink;
  of: DriveLinks;
}

/** The links of all drives of a project, or of one. */
export function Links({ project, drive }: { project: string; drive: string }) {
  const app = useApp();
  const loading = useOfDrives(project, drive, async (name, signal) => {
    const of = linksOf(app, project, name);
    await of.load(signal);
    return of;
  });
  return (
    <Page title="Links" lead="Addresses that open files and folders without a key.">
      <Loaded from={loading}>
        {({ drives, parts }) => (
          <div class="stack">
            <DriveFilter {...{ project, drive, drives }} section="links" />
            <LinkTable {...{ project, parts }} hasDrives={drive === "" && drives.length > 1} />
          </div>
        )}
      </Loaded>
    </Page>
  );
}

function LinkTable({ project, parts, hasDrives }: {
  project: string;
  parts: readonly DriveLinks[];
  hasDrives: boolean;
}) {
  const rows = parts.flatMap((of) => of.links.value.map((link): Row => ({ link, of })))
    .sort((a, b) => Date.parse(b.link.created) - Date.parse(a.link.created));
  const title = ({ link, of }: Row) => titleOf(link, of.drive);
  const columns: (Column<Row> | false)[] = [
    {
      title: "Name",
      isMain: true,
      cell: (row) => <a href={addressOf(project, row)}>{title(row)}</a>,
    },
    hasDrives && { title: "Drive", cell: ({ of }) => of.drive },
    { title: "Limits", cell: ({ link }) => <LinkLimits link={link} /> },
    { title: "Created", isMinor: true, cell: ({ link }) => formatDate(link.created) },
  ];
  return (
    <Table
      caption="Links"
      columns={columns.filter((column) => column !== false)}
      rows={rows}
      keyOf={({ link }) => link.id}
      empty={
        <Empty
          icon={LinkIcon}
          title="Nothing is shared"
          text="Choose “Share” in the menu of a file or folder to make a link that anyone can open."
        />
      }
      actions={(row) => (
        <>
          <CopyButton text={row.link.url} label={`Copy link to ${title(row)}`} />
          <OpenLink href={row.link.url} label={`Open link to ${title(row)}`} />
          <RemoveButton
            label={`Revoke link to ${title(row)}`}
            title="Revoke this link?"
            text={`People who have the link to “${title(row)}” cannot open it any more.`}
            action="Revoke"
            done="Link revoked"
            run={() => row.of.revoke(row.link.id)}
          />
        </>
      )}
    />
  );
}

/** What people call the target of a link. */
function titleOf({ name, prefix = "" }: ShareLink, drive: string): string {
  if (name !== undefined) return labelOf({ name });
  return prefix === "" ? drive : labelOf({ name: prefix });
}

function addressOf(project: string, { link: { name, prefix = "" }, of: { drive } }: Row): string {
  if (name === undefined) return links.folder(project, drive, folderOf({ name: `${prefix}x` }));
  return links.folder(project, drive, folderOf({ name }), { open: labelOf({ name }) });
}

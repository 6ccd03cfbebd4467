import { Link as LinkIcon } from "lucide";
import { useApp } from "../core/context.ts";
import { formatDate } from "../core/format.ts";
import { links } from "../core/links.ts";
import { DriveFilter, useOfDrives } from "../files/drive_filter.tsx";
import { folderOf, labelOf } from "../files/entry.ts";
import { OpenLink } from "../ui/button.tsx";
import { Collection } from "../ui/collection.tsx";
import { CopyButton } from "../ui/copy.tsx";
import { useQuery } from "../ui/filter_bar.tsx";
import type { Column } from "../ui/table.tsx";
import { type DriveLinks, linksOf, type ShareLink } from "./drive_links.ts";
import { ChangeLinkButton } from "./link_form.tsx";
import { LinkLimits } from "./link_item.tsx";

/** A link, and the links of its drive. */
interface Row {
  link: ShareLink;
  of: DriveLinks;
}

/** The links of all drives of a project, or of one. */
export function Links({ project }: { project: string }) {
  const app = useApp();
  const [query] = useQuery();
  const drive = query.get("drive") ?? "";
  const loading = useOfDrives(project, drive, async (name, signal) => {
    const of = linksOf(app, project, name);
    await of.load(signal);
    return of;
  });
  const { drives = [] } = loading.data ?? {};
  const title = ({ link, of }: Row) => titleOf(link, of.drive);
  return (
    <Collection
      title="Links"
      lead="Addresses that open files and folders without a key."
      above={drives.length > 1 && (
        <div class="filter-bar row">
          <DriveFilter drives={drives} />
        </div>
      )}
      from={loading}
      rows={({ parts }) => rowsOf(parts)}
      keyOf={({ link }) => link.id}
      columns={columnsOf(project, drive === "" && drives.length > 1)}
      empty={{
        icon: LinkIcon,
        title: "Nothing is shared",
        text: "Choose “Share” in the menu of a file or folder to make a link that anyone can open.",
      }}
      actions={(row) => (
        <>
          <CopyButton text={row.link.url} label={`Copy link to ${title(row)}`} />
          <OpenLink href={row.link.url} label={`Open link to ${title(row)}`} />
          <ChangeLinkButton {...row} label={`Change link to ${title(row)}`} />
        </>
      )}
      remove={(row) => ({
        label: `Revoke link to ${title(row)}`,
        title: "Revoke this link?",
        text: `People who have the link to “${title(row)}” cannot open it any more.`,
        action: "Revoke",
        done: "Link revoked",
        run: () => row.of.revoke(row.link.id),
      })}
    />
  );
}

/** The links of drives, newest first. */
function rowsOf(parts: readonly DriveLinks[]): Row[] {
  return parts.flatMap((of) => of.links.value.map((link): Row => ({ link, of })))
    .sort((a, b) => Date.parse(b.link.created) - Date.parse(a.link.created));
}

function columnsOf(project: string, hasDrives: boolean): Column<Row>[] {
  return [
    {
      title: "Name",
      isMain: true,
      // The drive has no column of its own, which would leave names too little room beside the navigation.
      cell: (row) => (
        <span class="title-link">
          <a href={addressOf(project, row)}>{titleOf(row.link, row.of.drive)}</a>
          {hasDrives && <small>{row.of.drive}</small>}
        </span>
      ),
    },
    { title: "Limits", cell: ({ link }) => <LinkLimits link={link} /> },
    { title: "Created", isMinor: true, cell: ({ link }) => formatDate(link.created) },
  ];
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

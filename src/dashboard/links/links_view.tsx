import { Link as LinkIcon } from "lucide";
import { formatDate } from "../core/format.ts";
import { links } from "../core/links.ts";
import { DriveSelect } from "../files/drive_select.tsx";
import { folderOf, labelOf } from "../files/entry.ts";
import { OpenLink } from "../ui/button.tsx";
import { CopyButton } from "../ui/copy.tsx";
import { Empty, Loaded } from "../ui/loaded.tsx";
import { Page } from "../ui/page.tsx";
import { RemoveButton } from "../ui/remove_button.tsx";
import { type Column, Table } from "../ui/table.tsx";
import { type ShareLink, useLinks } from "./drive_links.ts";
import { LinkLimits } from "./link_item.tsx";

export function Links({ project, drive }: { project: string; drive: string }) {
  return (
    <Page title="Links" lead="Addresses that open files and folders without a key.">
      <DriveSelect project={project} drive={drive} section="links">
        {(drive) => <LinkTable key={drive} project={project} drive={drive} />}
      </DriveSelect>
    </Page>
  );
}

function LinkTable({ project, drive }: { project: string; drive: string }) {
  const [shared, loading] = useLinks(project, drive);
  const columns: Column<ShareLink>[] = [
    {
      title: "Name",
      isMain: true,
      cell: (link) => <a href={addressOf(project, drive, link)}>{titleOf(link, drive)}</a>,
    },
    { title: "Limits", cell: (link) => <LinkLimits link={link} /> },
    { title: "Created", isMinor: true, cell: ({ created }) => formatDate(created) },
  ];
  return (
    <Loaded from={loading}>
      {() => (
        <Table
          caption={`Links of the drive ${drive}`}
          columns={columns}
          rows={shared.links.value}
          keyOf={({ id }) => id}
          empty={
            <Empty
              icon={LinkIcon}
              title="Nothing is shared"
              text="Choose “Share” in the menu of a file or folder to make a link that anyone can open."
            />
          }
          actions={(link) => (
            <>
              <CopyButton text={link.url} label={`Copy link to ${titleOf(link, drive)}`} />
              <OpenLink href={link.url} label={`Open link to ${titleOf(link, drive)}`} />
              <RemoveButton
                label={`Revoke link to ${titleOf(link, drive)}`}
                title="Revoke this link?"
                text={`People who have the link to “${
                  titleOf(link, drive)
                }” cannot open it any more.`}
                action="Revoke"
                done="Link revoked"
                run={() => shared.revoke(link.id)}
              />
            </>
          )}
        />
      )}
    </Loaded>
  );
}

/** What people call the target of a link. */
function titleOf({ name, prefix = "" }: ShareLink, drive: string): string {
  if (name !== undefined) return labelOf({ name });
  return prefix === "" ? drive : labelOf({ name: prefix });
}

function addressOf(project: string, drive: string, { name, prefix = "" }: ShareLink): string {
  if (name === undefined) return links.folder(project, drive, folderOf({ name: `${prefix}x` }));
  return links.folder(project, drive, folderOf({ name }), { open: labelOf({ name }) });
}

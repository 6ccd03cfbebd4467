import { ExternalLink, Link as LinkIcon, Trash2 } from "lucide";
import { useApp } from "../core/context.ts";
import { formatDate } from "../core/format.ts";
import { links } from "../core/links.ts";
import { DriveSelect } from "../files/drive_select.tsx";
import { folderOf, labelOf } from "../files/entry.ts";
import { IconButton } from "../ui/button.tsx";
import { CopyButton } from "../ui/copy.tsx";
import { confirm } from "../ui/dialog.tsx";
import { Icon } from "../ui/icon.tsx";
import { Empty, Loaded } from "../ui/loaded.tsx";
import { Page } from "../ui/page.tsx";
import { type Column, Table } from "../ui/table.tsx";
import type { ShareLink } from "./drive_links.ts";
import { LinkLimits } from "./link_item.tsx";
import { useLinks } from "./shared_links.ts";

/** All links of a drive. */
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
  const app = useApp();
  const [shared, loading] = useLinks(project, drive);
  const revoke = async (link: ShareLink) => {
    const isAgreed = await confirm(app, {
      title: "Revoke this link?",
      text: `People who have the link to “${titleOf(link, drive)}” cannot open it any more.`,
      action: "Revoke",
    });
    if (!isAgreed) return;
    await shared.revoke(link.id);
    app.toasts.success("Link revoked");
  };
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
      {() =>
        shared.links.value.length === 0
          ? (
            <Empty
              icon={LinkIcon}
              title="Nothing is shared"
              text="Choose “Share” in the menu of a file or folder to make a link that anyone can open."
            />
          )
          : (
            <Table
              caption={`Links of the drive ${drive}`}
              columns={columns}
              rows={shared.links.value}
              keyOf={({ id }) => id}
              actions={(link) => (
                <>
                  <CopyButton text={link.url} label={`Copy link to ${titleOf(link, drive)}`} />
                  <a
                    class="icon-button"
                    href={link.url}
                    target="_blank"
                    rel="noreferrer"
                    aria-label={`Open link to ${titleOf(link, drive)}`}
                    title="Open"
                  >
                    <Icon of={ExternalLink} />
                  </a>
                  <IconButton
                    icon={Trash2}
                    label={`Revoke link to ${titleOf(link, drive)}`}
                    onClick={() => revoke(link)}
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

import { Trash2 } from "lucide";
import { formatRelative, plural } from "../core/format.ts";
import { IconButton } from "../ui/button.tsx";
import { CopyField } from "../ui/copy.tsx";
import { isOpen, type ShareLink } from "./drive_links.ts";

/** A link with its address and limits. */
export function LinkItem({ link, onRevoke }: { link: ShareLink; onRevoke: () => unknown }) {
  return (
    <li class="link-item">
      <div class="link-line">
        <CopyField text={link.url} label="Link" />
        <IconButton icon={Trash2} label="Revoke link" onClick={onRevoke} />
      </div>
      <LinkLimits link={link} />
    </li>
  );
}

/** The limits of a link in words, such as "Expires in 7 days · Password · 3 downloads". */
export function LinkLimits({ link }: { link: ShareLink }) {
  const { expires, has_password, max_downloads, downloads, download } = link;
  const count = max_downloads === null
    ? plural(downloads, "download")
    : `${downloads} of ${plural(max_downloads, "download")}`;
  const parts = [
    expires === null ? "Never expires" : `Expires ${formatRelative(expires)}`,
    has_password ? "Password" : "",
    count,
    download ? "Downloads only" : "",
  ].filter(Boolean);
  if (!isOpen(link)) {
    return (
      <p class="link-limits">
        <span class="badge bad">{isExpired(link) ? "Expired" : "Used up"}</span> {count}
      </p>
    );
  }
  return <p class="link-limits">{parts.join(" · ")}</p>;
}

function isExpired({ expires }: ShareLink): boolean {
  return expires !== null && Date.parse(expires) <= Date.now();
}

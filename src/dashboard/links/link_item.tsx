import type { ComponentChildren } from "preact";
import { formatRelative, plural } from "../core/format.ts";
import type { Entry } from "../files/entry.ts";
import { CopyField } from "../ui/copy.tsx";
import { RemoveButton } from "../ui/remove_button.tsx";
import { type DriveLinks, isOpen, isOver, type ShareLink } from "./drive_links.ts";
import { ChangeLinkButton } from "./link_form.tsx";

/** The links of a file or folder. @param children What is shown if there are none. */
export function LinkList({ shared, entry, children = null }: {
  shared: DriveLinks;
  entry: Entry;
  children?: ComponentChildren;
}) {
  const own = shared.links.value.filter(({ name, prefix }) =>
    (entry.kind === "folder" ? prefix : name) === entry.name
  );
  if (own.length === 0) return <>{children}</>;
  return (
    <ul class="stack" aria-label="Links">
      {own.map((link) => (
        <LinkItem
          key={link.id}
          link={link}
          of={shared}
        />
      ))}
    </ul>
  );
}

function LinkItem({ link, of }: { link: ShareLink; of: DriveLinks }) {
  return (
    <li class="link-item stack">
      <div class="link-line line">
        <CopyField text={link.url} label="Link" />
        <ChangeLinkButton link={link} of={of} />
        <RemoveButton
          label="Revoke link"
          title="Revoke this link?"
          text="People who have it cannot open it any more."
          action="Revoke"
          done="Link revoked"
          run={() => of.revoke(link.id)}
        />
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
      <p class="hint">
        <span class="badge bad">{isOver(expires) ? "Expired" : "Used up"}</span> {count}
      </p>
    );
  }
  return <p class="hint">{parts.join(" · ")}</p>;
}

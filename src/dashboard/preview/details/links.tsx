import { Share2 } from "lucide";
import { useApp } from "../../core/context.ts";
import { serverAddress } from "../../core/server.ts";
import { type Entry, labelOf, type Place } from "../../files/entry.ts";
import { useFolder } from "../../files/view/folder_model.ts";
import { LinkList } from "../../links/link_item.tsx";
import { linksOf } from "../../links/drive_links.ts";
import { Button } from "../../ui/button.tsx";
import { quoted } from "../../settings/snippets.ts";
import { LabelledCopy } from "../../ui/copy.tsx";

export function EntryLinks({ place: { project, drive }, entry }: { place: Place; entry: Entry }) {
  const app = useApp();
  const { actions } = useFolder();
  const shared = linksOf(app, project, drive);
  if (!app.session.may("read")) return null;
  return (
    <div class="details-group stack">
      <div class="line between">
        <h3>Links</h3>
        <Button icon={Share2} class="small" onClick={() => void actions.share(entry)}>
          Share
        </Button>
      </div>
      <LinkList shared={shared} entry={entry}>
        <p class="soft">Not shared with a link.</p>
      </LinkList>
    </div>
  );
}

/** What programs call a file or folder. */
export function Paths({ place, entry }: { place: Place; entry: Entry }) {
  return (
    <div class="details-group stack">
      <h3>For programs</h3>
      <LabelledCopy label="Path" text={entry.name} />
      {entry.kind === "file" && (
        <LabelledCopy label="Download with curl" text={curlOf(place, entry)} />
      )}
    </div>
  );
}

/** The command that downloads a file. The key is not part of it. */
export function curlOf(
  { project, drive }: Omit<Place, "path">,
  entry: Entry,
  server: string = serverAddress(),
): string {
  const path = ["v1", project, drive].map(encodeURIComponent).join("/");
  const url = `${server}/${path}/files/download?name=${encodeURIComponent(entry.name)}`;
  return `curl -H "X-Api-Key: $KEY" -o ${quoted(labelOf(entry))} ${quoted(url)}`;
}

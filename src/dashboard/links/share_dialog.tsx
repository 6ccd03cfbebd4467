import { type App, useApp } from "../core/context.ts";
import { type Entry, labelOf, type Place } from "../files/entry.ts";
import { copyText } from "../ui/copy.tsx";
import { Dialog } from "../ui/dialog.tsx";
import { Loaded } from "../ui/loaded.tsx";
import { type LinkSettings, useLinks } from "./drive_links.ts";
import { LinkForm } from "./link_form.tsx";
import { LinkList } from "./link_item.tsx";

/** Shows the links of a file or folder, makes new ones and revokes them. */
export async function showShareDialog(
  { overlays }: Pick<App, "overlays">,
  place: Place,
  entry: Entry,
): Promise<void> {
  await overlays.show((close) => (
    <ShareDialog
      place={place}
      entry={entry}
      onClose={close}
    />
  ));
}

function ShareDialog({ place: { project, drive }, entry, onClose }: {
  place: Place;
  entry: Entry;
  onClose: () => void;
}) {
  const app = useApp();
  const [shared, loading] = useLinks(project, drive);
  const create = async (settings: LinkSettings) => {
    const { url } = await shared.create(entry, settings);
    try {
      await copyText(url);
      app.toasts.success("Link created and copied");
    } catch {
      app.toasts.success("Link created");
    }
  };
  return (
    <Dialog title={`Share “${labelOf(entry)}”`} onClose={onClose} isForm>
      <div class="stack">
        <p class="soft">
          Anyone with a link can open{" "}
          {entry.kind === "folder" ? "this folder and everything in it" : "this file"}, without a
          key.
        </p>
        <Loaded from={loading}>{() => <LinkList shared={shared} entry={entry} />}</Loaded>
        <h3>New link</h3>
        <LinkForm isFolder={entry.kind === "folder"} onCreate={create} />
      </div>
    </Dialog>
  );
}

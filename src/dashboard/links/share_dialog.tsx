import { type App, useApp } from "../core/context.ts";
import { type Entry, labelOf, type Place } from "../files/entry.ts";
import { copyText } from "../ui/copy.tsx";
import { Dialog } from "../ui/dialog.tsx";
import { useForm } from "../ui/form.tsx";
import { Loaded } from "../ui/loaded.tsx";
import { useLinks } from "./drive_links.ts";
import { linkForm } from "./link_form.tsx";
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
  const isFolder = entry.kind === "folder";
  const form = linkForm({
    title: `Share “${labelOf(entry)}”`,
    submit: "Create link",
    intro: <h3>New link</h3>,
    isFolder,
    send: async (settings) => await shared.create(entry, settings),
  });
  const { fields, button } = useForm(form, async ({ url }) => {
    const isCopied = await copyText(url).then(() => true, () => false);
    app.toasts.success(isCopied ? "Link created and copied" : "Link created");
  });
  return (
    <Dialog title={form.title} onClose={onClose} isForm footer={button}>
      <div class="stack">
        <p class="soft">
          Anyone with a link can open{" "}
          {isFolder ? "this folder and everything in it" : "this file"}, without a key.
        </p>
        <Loaded from={loading}>{() => <LinkList shared={shared} entry={entry} />}</Loaded>
        {fields}
      </div>
    </Dialog>
  );
}

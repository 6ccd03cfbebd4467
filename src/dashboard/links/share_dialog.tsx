import { useEffect, useId, useState } from "preact/hooks";
import { type App, useApp } from "../core/context.ts";
import { type Entry, labelOf, type Place } from "../files/entry.ts";
import { Button, useBusy } from "../ui/button.tsx";
import { copyText } from "../ui/copy.tsx";
import { Dialog } from "../ui/dialog.tsx";
import { Checkbox, SelectField, TextField } from "../ui/field.tsx";
import { Loaded } from "../ui/loaded.tsx";
import { type LinkSettings, useLinks } from "./drive_links.ts";
import { LinkList } from "./link_item.tsx";

const HOUR = 3600;
const DAY = 24 * HOUR;

const LIFETIMES = [
  ["never", "Never"],
  [`${HOUR}`, "In 1 hour"],
  [`${DAY}`, "In 1 day"],
  [`${7 * DAY}`, "In 7 days"],
  [`${30 * DAY}`, "In 30 days"],
  [`${365 * DAY}`, "In 1 year"],
] as const;

type Lifetime = (typeof LIFETIMES)[number][0];

/** The most downloads that a link may be limited to. */
const MAX_DOWNLOADS = 1_000_000_000;

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
  const form = useId();
  const [isBusy, setBusy] = useState(false);
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
    <Dialog
      title={`Share “${labelOf(entry)}”`}
      onClose={onClose}
      isForm
      footer={
        <Button kind="primary" type="submit" form={form} aria-busy={isBusy || undefined}>
          Create link
        </Button>
      }
    >
      <div class="stack">
        <p class="soft">
          Anyone with a link can open{" "}
          {entry.kind === "folder" ? "this folder and everything in it" : "this file"}, without a
          key.
        </p>
        <Loaded from={loading}>{() => <LinkList shared={shared} entry={entry} />}</Loaded>
        <h3>New link</h3>
        <LinkForm id={form} isFolder={entry.kind === "folder"} onCreate={create} onBusy={setBusy} />
      </div>
    </Dialog>
  );
}

/** The settings of a new link. The button that makes it is in the footer of the dialog. */
function LinkForm({ id, isFolder, onCreate, onBusy }: {
  id: string;
  isFolder: boolean;
  onBusy: (isBusy: boolean) => void;
  onCreate: (settings: LinkSettings) => Promise<void>;
}) {
  const [lifetime, setLifetime] = useState<Lifetime>(`${7 * DAY}`);
  const [password, setPassword] = useState("");
  const [limit, setLimit] = useState("");
  const [download, setDownload] = useState(false);
  const problem = limitProblem(limit);
  const [isBusy, create] = useBusy<Event>(async () => {
    if (problem !== undefined) return;
    await onCreate({
      expires_in: lifetime === "never" ? null : Number(lifetime),
      password: password === "" ? null : password,
      max_downloads: limit === "" ? null : Number(limit),
      download,
    });
    setPassword("");
    setLimit("");
  });
  useEffect(() => onBusy(isBusy), [isBusy]);
  return (
    <form id={id} class="stack" noValidate onSubmit={create}>
      <div class="two-columns">
        <SelectField
          label="Expires"
          value={lifetime}
          options={LIFETIMES}
          onChange={setLifetime}
        />
        <TextField
          label="Limit of downloads"
          placeholder="No limit"
          inputMode="numeric"
          value={limit}
          problem={problem}
          onInput={setLimit}
        />
      </div>
      <TextField
        label="Password"
        placeholder="None"
        type="password"
        autocomplete="new-password"
        value={password}
        onInput={setPassword}
      />
      <Checkbox
        label={isFolder
          ? "Download files instead of showing them"
          : "Download the file instead of showing it"}
        checked={download}
        onChange={setDownload}
      />
    </form>
  );
}

function limitProblem(text: string): string | undefined {
  if (text === "") return undefined;
  const isValid = /^\d+$/.test(text) && Number(text) >= 1 && Number(text) <= MAX_DOWNLOADS;
  return isValid ? undefined : "Enter a whole number from 1, or nothing";
}

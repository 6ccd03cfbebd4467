import { Pencil } from "lucide";
import { dataOf, type Schemas } from "../../core/api.ts";
import { type App, useApp } from "../../core/context.ts";
import { formatBytes, formatMoment, formatNumber, formatTime } from "../../core/format.ts";
import { links } from "../../core/links.ts";
import { useResource } from "../../core/resource.ts";
import { type Entry, folderOf, labelOf, type Place, shownName } from "../../files/entry.ts";
import { typeOf } from "../../files/listing/kinds.ts";
import { Picture } from "../../files/view/kind_icon.tsx";
import { useFolder } from "../../files/view/folder_model.ts";
import { IconButton } from "../../ui/button.tsx";
import { LabelledCopy } from "../../ui/copy.tsx";
import { askForText } from "../../ui/form.tsx";
import { Facts } from "../../ui/facts.tsx";
import { MenuButton } from "../../ui/menu.tsx";
import { EntryLinks, Paths } from "./links.tsx";

/** Time that a file stays selected before its details are asked for, in milliseconds: keys may move on. */
const PATIENCE = 150;

/** A day in seconds. */
const DAY = 86_400;

type Change = Schemas["FileChange"];

export function FileDetails({ place, entry: listed }: { place: Place; entry: Entry }) {
  const app = useApp();
  const { actions } = useFolder();
  const { project, drive } = place;
  const path = { project_id: project, drive_name: drive };
  const loaded = useResource(
    (signal) => loadDetails(app, place, listed, signal),
    [project, drive, listed.name, listed.etag],
  );
  const entry = { ...listed, ...loaded.data?.entry };
  const change = async (body: Change) => {
    await app.api.PATCH("/v1/{project_id}/{drive_name}/files", {
      params: { path, query: { name: entry.name } },
      body,
    });
    loaded.reload();
    actions.onChange({ removed: [], hasNew: true });
  };
  const folder = folderOf(entry);
  return (
    <>
      <Title entry={listed} label={labelOf(entry) || "/"} />
      <Facts
        isPanel
        facts={[
          ["Type", typeOf(entry).label],
          ["Size", sizeText(entry.size ?? 0)],
          [
            "Folder",
            <a key="folder" href={links.folder(project, drive, folder)}>
              {shownName(folder) || drive}
            </a>,
          ],
          entry.created !== undefined && ["Created", formatTime(entry.created)],
          ["Modified", formatTime(entry.modified)],
          entry.mtime !== undefined && ["Original date", formatTime(entry.mtime)],
          ["Expires", <Expiry key="expiry" entry={entry} onChange={change} />],
          ["Content type", <ContentType key="type" entry={entry} onChange={change} />],
        ]}
      />
      <EntryLinks place={place} entry={listed} />
      <Paths place={place} entry={listed} />
      <div class="details-group stack">
        <h3>Version</h3>
        {entry.etag === undefined ? null : <LabelledCopy label="ETag" text={entry.etag} />}
        {loaded.data?.sha256 === undefined
          ? null
          : <LabelledCopy label="SHA-256" text={loaded.data.sha256} />}
      </div>
    </>
  );
}

function sizeText(size: number): string {
  return size < 1000 ? formatBytes(size) : `${formatBytes(size)} (${formatNumber(size)} bytes)`;
}

/** Loads what a list leaves out. */
async function loadDetails(
  { api }: App,
  { project, drive }: Place,
  { name }: Entry,
  signal: AbortSignal,
): Promise<{ entry: Partial<Entry>; sha256: string | undefined }> {
  await new Promise((resolve) => setTimeout(resolve, PATIENCE));
  signal.throwIfAborted();
  const path = { project_id: project, drive_name: drive };
  const [{ files = [] }, { response }] = await Promise.all([
    dataOf(api.GET("/v1/{project_id}/{drive_name}/files", {
      params: { path, query: { prefix: name, limit: 1, details: true } },
      signal,
    })),
    api.HEAD("/v1/{project_id}/{drive_name}/files/download", {
      params: { path, query: { name } },
      signal,
    }),
  ]);
  const [found] = files;
  return {
    entry: found?.name === name ? found : {},
    sha256: sha256In(response.headers.get("repr-digest") ?? ""),
  };
}

/** Returns the digest of a header such as `sha-256=:…:` in hexadecimal digits. */
export function sha256In(header: string): string | undefined {
  const base64 = /sha-256=:([A-Za-z0-9+/=]+):/.exec(header)?.[1];
  if (base64 === undefined) return undefined;
  return [...atob(base64)].map((byte) => byte.charCodeAt(0).toString(16).padStart(2, "0")).join("");
}

type OnChange = (change: Change) => Promise<void>;

interface ChangeProps {
  entry: Entry;
  onChange: OnChange;
}

/** When the file expires, with a menu that changes it. */
function Expiry({ entry: { expires }, onChange }: ChangeProps) {
  const app = useApp();
  const set = async (days: number | null) => {
    await onChange({ expires_in: days === null ? null : days * DAY });
    app.toasts.success(days === null ? "The file stays until it is deleted" : "Expiry changed");
  };
  const items = [
    { label: "Never", isChecked: expires === undefined, run: () => set(null) },
    { label: "In 1 day", isChecked: false, run: () => set(1) },
    { label: "In 7 days", isChecked: false, run: () => set(7) },
    { label: "In 30 days", isChecked: false, run: () => set(30) },
    { label: "On a date…", isChecked: false, run: () => askForDate(app, expires, onChange) },
  ];
  return (
    <span class="details-value line between">
      <span>
        {expires === undefined ? "Never" : formatMoment(expires)}
      </span>
      {app.session.may("write") && (
        <MenuButton
          icon={Pencil}
          size={16}
          label="Change the expiry"
          items={items}
          menu="Expires"
        />
      )}
    </span>
  );
}

function ContentType({ entry: { content_type = "" }, onChange }: ChangeProps) {
  const app = useApp();
  return (
    <span class="details-value line between">
      <span>{shownName(content_type)}</span>
      {app.session.may("write") && (
        <IconButton
          icon={Pencil}
          size={16}
          label="Change the content type"
          onClick={() => void askForType(app, content_type, onChange)}
        />
      )}
    </span>
  );
}

async function askForDate(
  app: App,
  expires: string | undefined,
  onChange: OnChange,
): Promise<void> {
  await askForText(app, {
    title: "Expires on a date",
    submit: "Change",
    label: "Date and time",
    type: "datetime-local",
    initial: localTime(expires === undefined ? Date.now() + DAY * 1000 : Date.parse(expires)),
    problemOf: (value) => {
      if (value === "") return "Choose a date";
      return Date.parse(value) > Date.now() ? undefined : "Choose a time that is still to come";
    },
  }, (value) => onChange({ expires_in: Math.ceil((Date.parse(value) - Date.now()) / 1000) }));
}

async function askForType(app: App, initial: string, onChange: OnChange): Promise<void> {
  await askForText(app, {
    title: "Change the content type",
    submit: "Change",
    label: "Content type",
    hint: "Browsers and programs treat the file as this, such as image/png or text/plain.",
    initial,
    spellcheck: false,
    problemOf: (value) =>
      /^[\w!#$&^.+-]+\/[\w!#$&^.+-]+\s*(;.*)?$/.test(value.trim())
        ? undefined
        : "A content type looks like image/png",
  }, (value) => onChange({ content_type: value.trim() }));
}

/** Returns a moment as a field for dates has it, in the time zone of the browser. */
function localTime(moment: number): string {
  const date = new Date(moment);
  const shifted = new Date(moment - date.getTimezoneOffset() * 60_000);
  return shifted.toISOString().slice(0, 16);
}

export function Title({ entry, label }: { entry: Entry; label: string }) {
  return (
    <div class="details-title stack">
      <Picture entry={entry} size={56} />
      <p>
        <bdi>{shownName(label)}</bdi>
      </p>
    </div>
  );
}

import { File, Folder, Upload } from "lucide";
import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";
import { useApp } from "../core/context.ts";
import { formatNumber } from "../core/format.ts";
import type { SessionStore } from "../core/session.ts";
import { labelOf, type Place } from "../files/entry.ts";
import { Button } from "../ui/button.tsx";
import { Icon } from "../ui/icon.tsx";
import { openMenu } from "../ui/menu.tsx";
import { chooseFiles, droppedEntries, filesIn, pastedFiles } from "./chosen_files.ts";
import { useSharedTransfers } from "./transfers.ts";
import type { Transfers } from "./transfers.ts";

/** Uploads files and folders that are dropped or pasted anywhere while its content is shown. */
export function DropZone({ place, children }: { place: Place; children: ComponentChildren }) {
  const { session } = useApp();
  const transfers = useSharedTransfers();
  const [isOver, setOver] = useState(false);
  const isAllowed = mayUpload(session, place);
  useEffect(() => {
    if (!isAllowed) return;
    const leaving = new AbortController();
    acceptDrops(transfers, place, { onOver: setOver, signal: leaving.signal });
    return () => leaving.abort();
  }, [JSON.stringify(place), isAllowed]);
  return (
    <div class="drop-zone">
      {children}
      {isOver && (
        <div class="drop-hint" aria-hidden="true">
          <p>
            <Icon of={Upload} />
            Drop to upload to “{labelOf({ name: place.path }) || place.drive}”
          </p>
        </div>
      )}
    </div>
  );
}

/** The menu button "Upload" of a folder: files, or a folder. On touch screens it opens the system's chooser. */
export function UploadButton({ place }: { place: Place }) {
  const app = useApp();
  const transfers = useSharedTransfers();
  if (!mayUpload(app.session, place)) return null;
  const choose = (isFolder: boolean) => uploadChosen(transfers, place, isFolder);
  // Phones have no dialog for folders.
  const isTouch = matchMedia("(pointer: coarse)").matches;
  const open = (event: MouseEvent) => {
    if (isTouch) return void choose(false);
    const items = [
      { label: "Files", icon: File, run: () => void choose(false) },
      { label: "Folder", icon: Folder, run: () => void choose(true) },
    ];
    void openMenu(app, event.currentTarget as HTMLElement, items, "Upload");
  };
  return (
    <Button
      kind="primary"
      icon={Upload}
      aria-haspopup={isTouch ? undefined : "menu"}
      onClick={open}
    >
      Upload
    </Button>
  );
}

/** Uploads files, or a folder, that the user chooses. */
export async function uploadChosen(
  transfers: Transfers,
  place: Place,
  isFolder = false,
): Promise<void> {
  const items = await chooseFiles({ isFolder });
  if (items.length > 0) await transfers.upload(place, items);
}

/** Whether the session may send files to a folder. */
export function mayUpload(session: SessionStore, { drive, path }: Place): boolean {
  const { drives, name_prefix } = session.current.value ?? {};
  if (!session.may("write") || (drives && !drives.includes(drive))) return false;
  const prefix = name_prefix ?? "";
  // A prefix may end within a name: `trip/img` allows `trip/img1`.
  return path.startsWith(prefix) ||
    (prefix.startsWith(path) && !prefix.slice(path.length).includes("/"));
}

function acceptDrops(
  transfers: Transfers,
  place: Place,
  { onOver, signal }: { onOver: (isOver: boolean) => void; signal: AbortSignal },
): void {
  let isOfPage = false;
  let depth = 0;
  const hasFiles = (event: DragEvent) => !isOfPage && !hasDialog() && carriesFiles(event);
  const listen = <K extends keyof DocumentEventMap>(
    type: K,
    listener: (event: DocumentEventMap[K]) => void,
  ) => document.addEventListener(type, listener, { signal });
  const move = (event: DragEvent, step: number) => {
    if (!hasFiles(event)) return;
    event.preventDefault();
    depth = Math.max(0, depth + step);
    onOver(depth > 0);
  };
  // An image of the page that is dragged counts as a file, too.
  listen("dragstart", () => void (isOfPage = true));
  listen("dragend", () => void (isOfPage = false));
  listen("dragenter", (event) => move(event, 1));
  listen("dragleave", (event) => move(event, -1));
  listen("dragover", (event) => move(event, 0));
  const end = () => {
    depth = 0;
    onOver(false);
  };
  // A folder of the list may take it, and tell nobody.
  document.addEventListener("drop", end, { signal, capture: true });
  listen("drop", (event) => {
    if (event.defaultPrevented || !hasFiles(event)) return;
    event.preventDefault();
    if (event.dataTransfer !== null) void uploadDropped(transfers, place, event.dataTransfer);
  });
  listen("paste", (event) => {
    const files = event.clipboardData?.files ?? [];
    if (files.length === 0 || hasDialog() || isField(event.target)) return;
    event.preventDefault();
    void transfers.upload(place, pastedFiles(files));
  });
}

/** Uploads what was dropped onto a folder. To be called during the event. */
export async function uploadDropped(
  transfers: Transfers,
  place: Place,
  data: DataTransfer,
): Promise<void> {
  const entries = droppedEntries(data);
  const dropped = await transfers.during("Reading the files…", (show) => {
    const onFound = (count: number) => {
      if (count % 100 === 0) show(`Reading the files… ${formatNumber(count)}`);
    };
    return filesIn(entries, onFound).catch(() => {
      throw new Error("The dropped files cannot be read: choose them with “Upload”");
    });
  });
  if (dropped !== undefined) await transfers.upload(place, dropped.items, dropped.folders);
}

/** Whether files of the disk are dragged. */
function carriesFiles({ dataTransfer }: DragEvent): boolean {
  return dataTransfer?.types.includes("Files") ?? false;
}

/** A dialog hides the folder. */
export function hasDialog(): boolean {
  return document.querySelector("dialog[open]") !== null;
}

/** Whether key presses and the clipboard belong to an input field. */
export function isField(target: EventTarget | null): boolean {
  return target instanceof HTMLElement &&
    (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName));
}

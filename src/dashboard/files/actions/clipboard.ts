import { useEffect } from "preact/hooks";
import type { App } from "../../core/context.ts";
import { hasDialog, isField } from "../../transfers/drop_zone.tsx";
import type { Entry, EntryList, Place } from "../entry.ts";
import type { Room } from "../view/folder_model.ts";
import { FileActions } from "./file_actions.ts";
import { describe } from "./naming.ts";

/** The type of entries that are dragged or in the clipboard: JSON of an `EntryList`. */
export const ENTRIES_TYPE = "application/x-kvdrive";

/** What is cut and copied, and where it is pasted. */
interface OpenFolder {
  app: App;
  place: Place;
  selected: () => readonly Entry[];
  room: Room;
}

/**
 * Cuts, copies and pastes entries through the system clipboard. Another tab can paste them, and anything that another
 * program copies replaces them.
 */
export function useClipboard(folder: OpenFolder): void {
  useEffect(() => {
    const leaving = new AbortController();
    const run = { copy: put, cut: put, paste };
    for (const type of ["copy", "cut", "paste"] as const) {
      document.addEventListener(type, (event) => {
        const isText = type !== "paste" && getSelection()?.isCollapsed === false;
        if (!isText && !hasDialog() && !isField(event.target)) run[type](event, folder);
      }, { signal: leaving.signal });
    }
    return () => leaving.abort();
  }, []);
}

function put(
  event: ClipboardEvent,
  { app, place: { project, drive }, selected, room }: OpenFolder,
) {
  const { session, toasts } = app;
  const entries = selected();
  const isCut = event.type === "cut";
  const mayTake = session.may("read") && (!isCut || session.may("delete"));
  if (event.clipboardData === null || entries.length === 0 || !mayTake) return;
  const names = entries.map(({ name }) => name);
  const list: EntryList = { project, drive, names, isCut };
  room.copied.value = list;
  event.clipboardData.setData(ENTRIES_TYPE, JSON.stringify(list));
  event.clipboardData.setData("text/plain", names.join("\n"));
  event.preventDefault();
  toasts.info(`${isCut ? "Cut" : "Copied"} ${describe(entries)}: paste it in a folder`);
}

function paste(event: ClipboardEvent, folder: OpenFolder) {
  const { app, place, room } = folder;
  const text = event.clipboardData?.getData(ENTRIES_TYPE) ?? "";
  if (text === "" || !app.session.may("write")) return;
  event.preventDefault();
  pasteEntries(JSON.parse(text), place, room).catch((error) => app.toasts.error(error));
}

/** Copies or moves cut and copied entries to a folder. */
export async function pasteEntries(
  { project, drive, names, isCut }: EntryList,
  place: Place,
  room: Room,
): Promise<void> {
  if (project !== place.project) throw new Error("Files can only be pasted within their project");
  const from = { project, drive, path: "" };
  const actions = new FileActions(room.app, from, (change) => room.follow(from, change));
  await actions.drop(names, place, !isCut);
}

import { signal } from "@preact/signals";
import { useMemo } from "preact/hooks";
import type { Transfers } from "../../transfers/transfers.ts";
import { useSharedTransfers } from "../../transfers/transfers.ts";
import { mayUpload, uploadDropped } from "../../transfers/drop_zone.tsx";
import { ENTRIES_TYPE } from "../actions/clipboard.ts";
import type { FileActions } from "../actions/file_actions.ts";
import { type EntryList, labelOf, type Place } from "../entry.ts";
import { type FolderModel, useFolder } from "./folder_model.ts";
import { indexAt } from "./pointer.ts";
import { selectOnly } from "../listing/selection.ts";

/** Begins to drag the selected entries, or the one under the pointer. */
export function startDrag(event: DragEvent, folder: FolderModel): void {
  const name = folder.order.peek().nameAt(indexAt(event.target) ?? -1);
  if (name === undefined || event.dataTransfer === null) return event.preventDefault();
  if (!folder.selection.peek().names.has(name)) folder.selection.value = selectOnly(name);
  const names = folder.selected.peek().map(({ name }) => name);
  const { project, drive } = folder.place;
  const content: EntryList = { project, drive, names };
  event.dataTransfer.setData(ENTRIES_TYPE, JSON.stringify(content));
  event.dataTransfer.effectAllowed = "copyMove";
  showGhost(event.dataTransfer, names);
}

/** The picture at the pointer while entries are dragged. */
function showGhost(transfer: DataTransfer, names: readonly string[]): void {
  const ghost = document.createElement("div");
  ghost.className = "drag-ghost ellipsis";
  ghost.textContent = names.length === 1 ? labelOf({ name: names[0]! }) : `${names.length} items`;
  document.body.append(ghost);
  transfer.setDragImage(ghost, -12, -12);
  setTimeout(() => ghost.remove());
}

/** Returns handlers that let entries and files be dropped into folders. @param targetOf Returns the folder at a place of the page, and its element. */
export function useDrop(
  targetOf: (event: DragEvent) => { path: string; element: Element } | undefined,
) {
  const folder = useFolder();
  const transfers = useSharedTransfers();
  const marked = useMemo(() => signal<Element | undefined>(undefined), []);
  const mark = (element: Element | undefined) => {
    marked.value?.classList.remove("drop-target");
    element?.classList.add("drop-target");
    marked.value = element;
  };
  return {
    onDragOver: (event: DragEvent) => {
      const target = targetOf(event);
      const types = event.dataTransfer?.types ?? [];
      const isInside = target !== undefined && folder.selection.peek().names.has(target.path);
      const isOurs = types.includes(ENTRIES_TYPE);
      if (target === undefined || !(isOurs ? !isInside : types.includes("Files"))) {
        return mark(undefined);
      }
      event.preventDefault();
      if (event.dataTransfer !== null) {
        event.dataTransfer.dropEffect = !isOurs || isCopy(event) ? "copy" : "move";
      }
      mark(target.element);
    },
    onDragLeave: () => mark(undefined),
    onDrop: (event: DragEvent) => {
      const target = targetOf(event);
      mark(undefined);
      if (target === undefined) return;
      void accept(event, folder, transfers, target.path);
    },
  };
}

function isCopy(event: DragEvent): boolean {
  return event.ctrlKey || event.altKey;
}

/** Takes what was dropped. What is left, the whole page takes as an upload. */
async function accept(
  event: DragEvent,
  { place, actions, room: { app } }: FolderModel,
  transfers: Transfers,
  path: string,
): Promise<void> {
  const { dataTransfer } = event;
  const text = dataTransfer?.getData(ENTRIES_TYPE) ?? "";
  if (dataTransfer === null || (text === "" && !dataTransfer.types.includes("Files"))) return;
  event.preventDefault();
  try {
    const target = { ...place, path };
    if (text !== "") return await moveInto(actions, target, JSON.parse(text), isCopy(event));
    if (!mayUpload(app.session, target)) throw new Error("This key may not upload to this folder");
    await uploadDropped(transfers, target, dataTransfer);
  } catch (error) {
    app.toasts.error(error);
  }
}

async function moveInto(
  actions: FileActions,
  { project, drive, path }: Place,
  content: EntryList,
  isCopy: boolean,
): Promise<void> {
  if (content.project !== project || content.drive !== drive) {
    throw new Error("Files can only be dragged within their drive");
  }
  await actions.drop(content.names, { drive, path }, isCopy);
}

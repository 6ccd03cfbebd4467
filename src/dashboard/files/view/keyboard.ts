import { runAction } from "../../ui/menu.tsx";
import { labelOf } from "../entry.ts";
import { clear, extend, moveTo, selectOnly, toggle } from "../listing/selection.ts";
import { actionWithKey } from "./actions.ts";
import type { FolderModel } from "./folder_model.ts";
import type { Geometry } from "./geometry.ts";
import { isAdding } from "./pointer.ts";

/** Letters that follow each other within this time are one word, in milliseconds. */
const TYPE_AHEAD = 700;

/** Makes the handler of keys for the list of a folder, as the grid pattern of WAI-ARIA and file managers have them. */
export function createKeyHandler(
  folder: FolderModel,
  openMenu: () => void,
): (event: KeyboardEvent, geometry: Geometry) => void {
  const typed = { text: "", at: 0 };
  return (event, geometry) => {
    if ((event.target as Element).closest("button, input") !== null) return;
    const isLetter = continuesName(folder, event, typed) && typeAhead(folder, event, typed);
    const isHandled = isLetter || move(folder, event, geometry) || act(folder, event, openMenu) ||
      runShortcut(folder, event) || typeAhead(folder, event, typed);
    if (isHandled) event.preventDefault();
  };
}

/** Arrows, Home, End, PageUp and PageDown move; with Shift they select, with Ctrl they leave the selection. */
function move(folder: FolderModel, event: KeyboardEvent, geometry: Geometry): boolean {
  const { order, selection } = folder;
  const { length } = order.value;
  const { focus } = selection.value;
  const at = focus === undefined ? -1 : order.value.indexOf(focus);
  const target = targetOf(event.key, at, length, geometry);
  if (target === undefined || event.altKey || length === 0) return false;
  const name = order.value.nameAt(Math.max(0, Math.min(length - 1, target)))!;
  if (event.shiftKey) selection.value = extend(selection.value, name, order.value);
  else if (isAdding(event)) selection.value = moveTo(selection.value, name);
  else selection.value = selectOnly(name);
  return true;
}

function targetOf(
  key: string,
  at: number,
  length: number,
  { columns, visible }: Geometry,
): number | undefined {
  switch (key) {
    case "ArrowDown":
      return at < 0 ? 0 : at + columns < length ? at + columns : Math.max(at, length - 1);
    case "ArrowUp":
      return at < columns ? Math.max(0, at) : at - columns;
    case "ArrowRight":
      return columns === 1 ? undefined : at + 1;
    case "ArrowLeft":
      return columns === 1 ? undefined : at - 1;
    case "Home":
      return 0;
    case "End":
      return length - 1;
    case "PageDown":
      return at + Math.max(1, visible - 1) * columns;
    case "PageUp":
      return at - Math.max(1, visible - 1) * columns;
    default:
      return undefined;
  }
}

function act(folder: FolderModel, event: KeyboardEvent, openMenu: () => void): boolean {
  const { selection, order } = folder;
  const entry = folder.rows.peek()[order.peek().indexOf(selection.peek().focus ?? "")];
  switch (event.key) {
    case "Enter":
      if (entry !== undefined) folder.open(entry);
      return entry !== undefined;
    case " ":
      if (entry === undefined) return false;
      if (entry.kind === "folder" || isAdding(event) || selection.value.names.size > 1) {
        selection.value = toggle(selection.value, entry.name);
      } else folder.open(entry);
      return true;
    case "Escape":
      selection.value = clear(selection.value);
      return true;
    case "ContextMenu":
    case "F10":
      if (event.key === "F10" && !event.shiftKey) return false;
      if (entry !== undefined && selection.value.names.size === 0) {
        selection.value = selectOnly(entry.name);
      }
      openMenu();
      return true;
    default:
      return false;
  }
}

/** Runs the action on what is selected that has the key. */
function runShortcut(folder: FolderModel, event: KeyboardEvent): boolean {
  const selected = folder.selected.peek();
  if (selected.length === 0 || isAdding(event) || event.shiftKey) return false;
  // Macs have no key for deleting forward on small keyboards.
  const key = event.key === "Backspace" ? "Delete" : event.key;
  const item = actionWithKey(key, "entries", { folder, entries: selected });
  if (item === undefined) return false;
  void runAction(folder.room.app, item);
  return true;
}

/** Whether a space belongs to a name that is being typed: otherwise it has a meaning of its own. */
function continuesName(
  { rows }: FolderModel,
  { key, timeStamp }: KeyboardEvent,
  { text, at }: { text: string; at: number },
): boolean {
  return key === " " && text !== "" && timeStamp - at < TYPE_AHEAD &&
    rows.value.some((entry) => labelOf(entry).toLowerCase().startsWith(`${text} `));
}

/** Moves to the next entry that begins with what was typed. */
function typeAhead(
  { rows, order, selection }: FolderModel,
  event: KeyboardEvent,
  typed: { text: string; at: number },
): boolean {
  if (event.key.length !== 1 || isAdding(event) || event.altKey) return false;
  // The page itself handles these shortcuts.
  if (event.key === "/" || event.key === "?") return false;
  const isWord = event.timeStamp - typed.at < TYPE_AHEAD;
  typed.text = (isWord ? typed.text : "") + event.key.toLowerCase();
  typed.at = event.timeStamp;
  const at = order.value.indexOf(selection.value.focus ?? "");
  // A second letter may belong to the name that the first one found.
  const start = isWord ? Math.max(0, at) : at + 1;
  const { length } = rows.value;
  for (let step = 0; step < length; step++) {
    const entry = rows.value[(start + step) % length]!;
    if (!labelOf(entry).toLowerCase().startsWith(typed.text)) continue;
    selection.value = selectOnly(entry.name);
    break;
  }
  return true;
}

import { useRef } from "preact/hooks";
import type { Entry } from "../entry.ts";
import { clear, extend, selectOnly, toggle } from "../listing/selection.ts";
import { openFilesMenu } from "./actions.ts";
import type { FolderModel } from "./folder_model.ts";

/** How long a finger rests on an entry to select it, in milliseconds. */
const LONG_PRESS = 450;
/** A finger that moves farther scrolls, in pixels. */
const TOLERANCE = 10;

/** Returns the index of the entry that an element of the page belongs to. */
export function indexAt(target: EventTarget | null): number | undefined {
  const element = target instanceof Element ? target.closest<HTMLElement>("[data-index]") : null;
  return element === null ? undefined : Number(element.dataset["index"]);
}

/** Whether a key that adds to the selection is held: Ctrl, or Cmd on a Mac. */
export function isAdding(event: MouseEvent | KeyboardEvent): boolean {
  return event.ctrlKey || event.metaKey;
}

/** Selects and opens entries with a mouse or a finger. */
export function usePointer(folder: FolderModel) {
  const press = useRef({ timer: 0, x: 0, y: 0, wasLong: false });
  const { selection } = folder;
  const entryAt = (target: EventTarget | null) => folder.rows.peek()[indexAt(target) ?? -1];
  const endPress = () => clearTimeout(press.current.timer);

  const onClick = (event: MouseEvent) => {
    const target = event.target as Element;
    const entry = entryAt(target);
    const more = target.closest<HTMLElement>(".entry-more");
    if (more !== null && entry !== undefined) {
      if (!selection.value.names.has(entry.name)) selection.value = selectOnly(entry.name);
      return openFilesMenu(folder, more);
    }
    if (target.closest("button, input, .entry-folder") !== null) return;
    if (entry === undefined) {
      if (target.closest("[role=row]") === null) selection.value = clear(selection.value);
      return;
    }
    event.preventDefault();
    if (press.current.wasLong) return;
    select(event, entry);
  };
  const select = (event: MouseEvent, entry: Entry) => {
    const isTouch = (event as PointerEvent).pointerType === "touch";
    const isTicking = (event.target as Element).closest(".entry-check") !== null;
    const { value } = selection;
    // A screen reader activates the link with a click that no pointer made.
    if (event.detail === 0 || (isTouch && value.names.size === 0)) return folder.open(entry);
    if (event.shiftKey) {
      selection.value = extend(value, entry.name, folder.order.peek(), isAdding(event));
    } else if (isTouch || isTicking || isAdding(event)) selection.value = toggle(value, entry.name);
    else selection.value = selectOnly(entry.name);
  };
  const hold = (entry: Entry) => {
    press.current.wasLong = true;
    if (!selection.peek().names.has(entry.name)) {
      selection.value = toggle(selection.peek(), entry.name);
    }
  };
  return {
    onClick,
    onDblClick: (event: MouseEvent) => {
      const entry = entryAt(event.target);
      const isControl = (event.target as Element).closest("button, .entry-check, .entry-folder");
      if (entry !== undefined && isControl === null) folder.open(entry);
    },
    onContextMenu: (event: MouseEvent) => {
      const entry = entryAt(event.target);
      event.preventDefault();
      endPress();
      if ((event as PointerEvent).pointerType === "touch") return entry && hold(entry);
      if (entry === undefined) selection.value = clear(selection.value);
      else if (!selection.value.names.has(entry.name)) selection.value = selectOnly(entry.name);
      openFilesMenu(folder, { x: event.clientX, y: event.clientY });
    },
    onPointerDown: (event: PointerEvent) => {
      endPress();
      press.current.wasLong = false;
      const entry = entryAt(event.target);
      if (event.pointerType !== "touch" || entry === undefined) return;
      const timer = setTimeout(() => hold(entry), LONG_PRESS);
      press.current = { timer, x: event.clientX, y: event.clientY, wasLong: false };
    },
    onPointerMove: ({ clientX, clientY }: PointerEvent) => {
      const { x, y } = press.current;
      if (Math.hypot(clientX - x, clientY - y) > TOLERANCE) endPress();
    },
    onPointerUp: endPress,
    onPointerCancel: endPress,
  };
}

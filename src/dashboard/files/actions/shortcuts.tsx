import { useEffect } from "preact/hooks";
import type { App } from "../../core/context.ts";
import { hasDialog, isField } from "../../transfers/drop_zone.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { Facts } from "../../ui/facts.tsx";
import { runAction } from "../../ui/menu.tsx";
import { actionWithKey, SHORTCUTS } from "../view/actions.ts";
import type { FolderModel } from "../view/folder_model.ts";

/** The keys that are in no menu. */
const MOVING: typeof SHORTCUTS = [
  ["Arrows, Page Up, Page Down", "Move; with Shift, extend the selection"],
  ["Letters", "Go to the next name that begins with them"],
  ["Space", "Preview"],
  ["Escape", "Clear the selection, or close what is open"],
];
const OTHERS: typeof SHORTCUTS = [
  ["Ctrl+Z", "Undo, while a message offers it"],
  ["/", "Search"],
  ["Shift+F10", "Open the menu"],
  ["←, →", "In a preview: previous and next file"],
  ["I", "In a preview: details"],
  ["+, −, 0", "In a preview: zoom, and fit to the window"],
];

export async function showShortcuts({ overlays }: Pick<App, "overlays">): Promise<void> {
  await overlays.show((close) => (
    <Dialog title="Keyboard shortcuts" onClose={close}>
      {/* It is longer than small windows: the arrow keys scroll it. */}
      <div role="region" aria-label="Keys" tabIndex={0} data-begin>
        <Facts facts={[...MOVING, ...SHORTCUTS, ...OTHERS]} />
      </div>
    </Dialog>
  ));
}

/** The keys that work on the page of a folder, wherever the focus is. */
export function useShortcuts(folder: FolderModel): void {
  useEffect(() => {
    const leaving = new AbortController();
    document.addEventListener("keydown", (event) => {
      if (event.defaultPrevented || hasDialog() || isField(event.target)) return;
      if (press(folder, keyOf(event))) event.preventDefault();
    }, { signal: leaving.signal });
    return () => leaving.abort();
  }, []);
}

/** Returns what was pressed, as the table of actions names it: "Ctrl+A". Macs have Cmd in place of Ctrl. */
function keyOf({ key, altKey, ctrlKey, metaKey, shiftKey }: KeyboardEvent): string {
  const name = key.length === 1 ? key.toUpperCase() : key;
  const isCtrl = ctrlKey || metaKey;
  // Without Ctrl or Alt, it is a part of what is typed: "?".
  const shift = shiftKey && (isCtrl || altKey) ? "Shift+" : "";
  return `${isCtrl ? "Ctrl+" : ""}${altKey ? "Alt+" : ""}${shift}${name}`;
}

function press(folder: FolderModel, key: string): boolean {
  const { app } = folder.room;
  const action = actionWithKey(key, "page", { folder, entries: [] });
  if (action !== undefined) void runAction(app, action);
  else if (key === "/") search();
  else if (key === "?") void showShortcuts(app);
  else if (key === "Ctrl+Z") app.toasts.undo();
  else return false;
  return true;
}

/** Moves the focus to the search field. Narrow screens have a button instead of it. */
function search(): void {
  const header = document.querySelector(".files-head");
  const field = header?.querySelector<HTMLElement>("input[type=search]");
  if (field) field.focus();
  else header?.querySelector<HTMLElement>("[aria-label=Search]")?.click();
}

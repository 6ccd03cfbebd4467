import { useEffect } from "preact/hooks";
import type { App } from "../../core/context.ts";
import { links } from "../../core/links.ts";
import { hasDialog, isField } from "../../transfers/drop_zone.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { Facts } from "../../ui/facts.tsx";
import { folderOf, type Place } from "../entry.ts";

const SHORTCUTS: readonly [keys: string, what: string][] = [
  ["Arrows, Page Up, Page Down", "Move; with Shift, extend the selection"],
  ["Letters", "Go to the next name that begins with them"],
  ["Enter", "Open"],
  ["Space", "Preview"],
  ["Ctrl+A", "Select all"],
  ["Escape", "Clear the selection, or close what is open"],
  ["F2", "Rename"],
  ["Delete", "Delete"],
  ["Ctrl+C, Ctrl+X, Ctrl+V", "Copy, cut and paste"],
  ["Ctrl+Z", "Undo, while a message offers it"],
  ["/", "Search"],
  ["Alt+↑", "Open the folder above"],
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
        <Facts facts={SHORTCUTS} />
      </div>
    </Dialog>
  ));
}

/** The keys that work on the page of a folder, wherever the focus is. */
export function useShortcuts(
  app: App,
  { project, drive, path }: Place,
  selectAll: () => void,
): void {
  useEffect(() => {
    const leaving = new AbortController();
    document.addEventListener("keydown", (event) => {
      if (event.defaultPrevented || hasDialog() || isField(event.target)) return;
      const isUsed = press(event, {
        "/": () => search(),
        "?": () => void showShortcuts(app),
        "Alt+ArrowUp": () =>
          app.router.go(
            path === ""
              ? links.drives(project)
              : links.folder(project, drive, folderOf({ name: path })),
          ),
        "Ctrl+a": selectAll,
        "Ctrl+z": () => app.toasts.undo(),
      });
      if (isUsed) event.preventDefault();
    }, { signal: leaving.signal });
    return () => leaving.abort();
  }, []);
}

function press(
  { key, altKey, ctrlKey, metaKey }: KeyboardEvent,
  actions: Readonly<Record<string, () => void>>,
): boolean {
  const action = actions[`${ctrlKey || metaKey ? "Ctrl+" : ""}${altKey ? "Alt+" : ""}${key}`];
  action?.();
  return action !== undefined;
}

/** Moves the focus to the search field. Narrow screens have a button instead of it. */
function search(): void {
  const header = document.querySelector(".files-head");
  const field = header?.querySelector<HTMLElement>("input[type=search]");
  if (field) field.focus();
  else header?.querySelector<HTMLElement>("[aria-label=Search]")?.click();
}

import { Check, type IconNode } from "lucide";
import { useLayoutEffect, useRef } from "preact/hooks";
import { type App, useApp } from "../core/context.ts";
import { IconButton } from "./button.tsx";
import { Icon } from "./icon.tsx";

/** An entry of a menu, or entries below a title; `"-"` is a line. */
export type MenuItem = MenuAction | MenuGroup | "-";

interface MenuGroup {
  title: string;
  items: readonly MenuItem[];
}

export interface MenuAction {
  label: string;
  icon?: IconNode;
  /** The key that does the same, such as "F2". */
  shortcut?: string;
  isDanger?: boolean;
  /** For entries of which one is chosen. */
  isChecked?: boolean;
  run: () => unknown;
}

/** Where a menu opens: at the pointer, or below an element. */
export type MenuPlace = { x: number; y: number } | HTMLElement;

/** Space between a menu and the edge of the window, in pixels. */
const MARGIN = 8;

/** Opens a menu, and runs what the user chooses. */
export async function openMenu(
  { overlays, toasts }: Pick<App, "overlays" | "toasts">,
  place: MenuPlace,
  items: readonly MenuItem[],
  label: string,
): Promise<void> {
  const chosen = await overlays.show<MenuAction>((close) => (
    <Menu {...{ place, items, label }} onClose={close} />
  ));
  if (chosen !== undefined) await runAction({ toasts }, chosen);
}

/** Runs what an entry does, and shows what it throws. */
export async function runAction(
  { toasts }: Pick<App, "toasts">,
  { run }: MenuAction,
): Promise<void> {
  try {
    await run();
  } catch (error) {
    toasts.error(error);
  }
}

export function MenuButton({ items, menu, ...button }: Parameters<typeof IconButton>[0] & {
  items: readonly MenuItem[];
  /** What the menu is of, for screen readers. */
  menu: string;
}) {
  const app = useApp();
  return (
    <IconButton
      {...button}
      aria-haspopup="menu"
      onClick={(event) => void openMenu(app, event.currentTarget as HTMLElement, items, menu)}
    />
  );
}

function Menu({ place, items, label, onClose }: {
  place: MenuPlace;
  items: readonly MenuItem[];
  label: string;
  onClose: (chosen?: MenuAction) => void;
}) {
  const ref = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    const menu = ref.current;
    if (menu === null) return;
    const before = document.activeElement;
    // A popover lies above dialogs, and closes with Escape and with a click beside it.
    menu.showPopover();
    putAt(menu, place);
    entriesOf(menu)[0]?.focus();
    return () => {
      if (before instanceof HTMLElement && before.isConnected) before.focus();
    };
  }, []);
  return (
    <div
      ref={ref}
      class="menu raised"
      role="menu"
      aria-label={label}
      popover="auto"
      onToggle={(event) => event.newState === "closed" && onClose()}
      onKeyDown={moveFocus}
      onContextMenu={(event) => event.preventDefault()}
    >
      <Entries items={items} onChoose={onClose} />
    </div>
  );
}

function Entries({ items, onChoose }: {
  items: readonly MenuItem[];
  onChoose: (chosen: MenuAction) => void;
}) {
  return (
    <>
      {items.map((item, index) => {
        if (item === "-") return <hr key={index} role="separator" />;
        if ("run" in item) return <Entry key={index} item={item} onChoose={() => onChoose(item)} />;
        return (
          <div key={index} class="menu-group" role="group" aria-label={item.title}>
            <p class="hint" aria-hidden="true">{item.title}</p>
            <Entries items={item.items} onChoose={onChoose} />
          </div>
        );
      })}
    </>
  );
}

function Entry({ item, onChoose }: { item: MenuAction; onChoose: () => void }) {
  const { label, icon, shortcut, isDanger, isChecked } = item;
  return (
    <button
      type="button"
      role={isChecked === undefined ? "menuitem" : "menuitemradio"}
      aria-checked={isChecked}
      aria-keyshortcuts={shortcut}
      class={`menu-entry line ${isDanger ? "danger" : ""}`}
      tabIndex={-1}
      onClick={onChoose}
    >
      {icon === undefined ? <span class="icon" /> : <Icon of={icon} />}
      <span class="menu-label">{label}</span>
      {isChecked && <Icon of={Check} size={16} class="menu-tick" />}
      {shortcut === undefined ? null : <kbd aria-hidden="true">{shortcut}</kbd>}
    </button>
  );
}

function entriesOf(menu: HTMLElement): HTMLElement[] {
  return [...menu.querySelectorAll<HTMLElement>(".menu-entry")];
}

/** Arrows, Home, End and letters move the focus (WAI-ARIA, menu pattern). */
function moveFocus(event: KeyboardEvent): void {
  event.stopPropagation();
  const menu = event.currentTarget as HTMLElement;
  const entries = entriesOf(menu);
  const at = entries.indexOf(document.activeElement as HTMLElement);
  const next = nextEntry(entries, at, event.key);
  if (event.key === "Tab") menu.hidePopover();
  if (next === undefined) return;
  event.preventDefault();
  next.focus();
}

function nextEntry(entries: HTMLElement[], at: number, key: string): HTMLElement | undefined {
  switch (key) {
    case "ArrowDown":
      return entries[(at + 1) % entries.length];
    case "ArrowUp":
      return entries.at(at <= 0 ? -1 : at - 1);
    case "Home":
      return entries[0];
    case "End":
      return entries.at(-1);
    default: {
      if (key.length !== 1) return undefined;
      const rotated = [...entries.slice(at + 1), ...entries.slice(0, at + 1)];
      return rotated.find(({ textContent }) =>
        textContent?.trim().toLowerCase().startsWith(key.toLowerCase())
      );
    }
  }
}

/** Puts the menu where it fits into the window. */
function putAt(menu: HTMLElement, place: MenuPlace): void {
  const { width, height } = menu.getBoundingClientRect();
  const anchor = place instanceof HTMLElement
    ? place.getBoundingClientRect()
    : new DOMRect(place.x, place.y);
  const below = anchor.bottom + 4;
  const fitsBelow = below + height + MARGIN <= innerHeight;
  const top = fitsBelow ? below : Math.max(MARGIN, anchor.top - height - 4);
  const left = Math.min(anchor.left, innerWidth - width - MARGIN);
  menu.style.top = `${top}px`;
  menu.style.left = `${Math.max(MARGIN, left)}px`;
}

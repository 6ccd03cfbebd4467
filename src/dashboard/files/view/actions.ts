import {
  ArrowDownUp,
  ClipboardPaste,
  Copy,
  CopyPlus,
  CornerLeftUp,
  Download,
  ExternalLink,
  Eye,
  FolderInput,
  FolderOpen,
  FolderPlus,
  type IconNode,
  LayoutGrid,
  Link,
  List,
  ListChecks,
  PanelRight,
  Pencil,
  RefreshCw,
  Share2,
  Trash2,
  Upload,
} from "lucide";
import { links } from "../../core/links.ts";
import { serverAddress } from "../../core/server.ts";
import type { Permission } from "../../core/session.ts";
import { mayUpload, uploadChosen } from "../../transfers/drop_zone.tsx";
import { type MenuAction, type MenuItem, type MenuPlace, openMenu } from "../../ui/menu.tsx";
import { pasteEntries } from "../actions/clipboard.ts";
import { type Entry, folderOf } from "../entry.ts";
import type { Column } from "../listing/order.ts";
import { selectAll } from "../listing/selection.ts";
import { sortedBy, TITLES } from "./column_heads.tsx";
import type { FolderModel } from "./folder_model.ts";

/** What an action is done with. */
interface Target {
  folder: FolderModel;
  /** The selected entries; none for the folder itself. */
  entries: readonly Entry[];
  /** Where another menu opens. */
  at?: MenuPlace | undefined;
}

interface Action {
  label: string | ((on: Target) => string);
  icon: IconNode | ((on: Target) => IconNode);
  /** The key that does it, too. */
  shortcut?: string;
  /** How the list of shortcuts tells it, if not by the shortcut and the label. */
  help?: readonly [keys: string, what: string];
  isDanger?: boolean;
  isPossible?: (on: Target) => boolean;
  run: (on: Target) => unknown;
}

const may = (...needed: Permission[]) => ({ folder: { room: { app: { session } } } }: Target) =>
  needed.every((permission) => session.may(permission));

const isOne = ({ entries }: Target) => entries.length === 1;

const isFolder = ({ entries: [entry] }: Target) => entry?.kind === "folder";

const isGrid = ({ folder: { room: { preferences } } }: Target) =>
  preferences.layout.value === "grid";

const mayShare = (on: Target) => isOne(on) && may("read")(on) && (!isFolder(on) || may("list")(on));

/** What can be done with entries and folders. Menus, bars, keys and the list of shortcuts read this table. */
const ACTIONS = {
  open: {
    label: (on) => isFolder(on) ? "Open" : "Preview",
    icon: (on) => isFolder(on) ? FolderOpen : Eye,
    shortcut: "Enter",
    help: ["Enter", "Open"],
    isPossible: isOne,
    run: ({ folder, entries: [entry] }) => folder.open(entry!),
  },
  openTab: {
    label: "Open in a new tab",
    icon: ExternalLink,
    isPossible: isOne,
    run: ({ folder, entries: [entry] }) =>
      void globalThis.open(`${serverAddress()}/${folder.hashOf(entry!)}`, "_blank", "noopener"),
  },
  download: {
    label: "Download",
    icon: Download,
    isPossible: may("read"),
    run: ({ folder, entries }) => folder.actions.download(entries),
  },
  share: {
    label: "Share…",
    icon: Share2,
    isPossible: mayShare,
    run: ({ folder, entries: [entry] }) => folder.actions.share(entry!),
  },
  copyLink: {
    label: "Copy link",
    icon: Link,
    isPossible: mayShare,
    run: ({ folder, entries: [entry] }) => folder.actions.copyLink(entry!),
  },
  rename: {
    label: "Rename",
    icon: Pencil,
    shortcut: "F2",
    isPossible: (on) => isOne(on) && may("read", "write", "delete")(on),
    run: ({ folder, entries: [entry] }) => folder.actions.rename(entry!),
  },
  moveTo: {
    label: "Move to…",
    icon: FolderInput,
    isPossible: may("read", "write", "delete"),
    run: ({ folder, entries }) => folder.actions.moveTo(entries),
  },
  copyTo: {
    label: "Copy to…",
    icon: Copy,
    isPossible: may("read", "write"),
    run: ({ folder, entries }) => folder.actions.copyTo(entries),
  },
  remove: {
    label: "Delete",
    icon: Trash2,
    shortcut: "Delete",
    isDanger: true,
    isPossible: may("delete"),
    run: ({ folder, entries }) => folder.actions.remove(entries),
  },
  duplicate: {
    label: "Duplicate",
    icon: CopyPlus,
    isPossible: (on) => isOne(on) && may("read", "write")(on),
    run: ({ folder: { actions, place }, entries: [entry] }) =>
      actions.drop([entry!.name], { drive: place.drive, path: folderOf(entry!) }, true),
  },
  upload: {
    label: "Upload",
    icon: Upload,
    isPossible: ({ folder: { room, place } }) => mayUpload(room.app.session, place),
    run: ({ folder: { transfers, place } }) => uploadChosen(transfers, place),
  },
  newFolder: {
    label: "New folder",
    icon: FolderPlus,
    isPossible: may("write"),
    run: ({ folder }) => folder.actions.newFolder(),
  },
  paste: {
    label: "Paste",
    icon: ClipboardPaste,
    shortcut: "Ctrl+V",
    help: ["Ctrl+C, Ctrl+X, Ctrl+V", "Copy, cut and paste"],
    isPossible: (on) => may("write")(on) && on.folder.room.copied.value !== undefined,
    run: ({ folder: { room, place } }) => pasteEntries(room.copied.peek()!, place, room),
  },
  selectAll: {
    label: "Select all",
    icon: ListChecks,
    shortcut: "Ctrl+A",
    run: ({ folder }) => {
      folder.selection.value = selectAll(folder.selection.peek(), folder.order.peek());
      folder.attend();
    },
  },
  sort: {
    label: "Sort…",
    icon: ArrowDownUp,
    run: ({ folder, at }) => openMenu(folder.room.app, at!, sortItems(folder), "Sort"),
  },
  layout: {
    label: (on) => isGrid(on) ? "Show as list" : "Show as grid",
    icon: (on) => isGrid(on) ? List : LayoutGrid,
    run: (on) => void (on.folder.room.preferences.layout.value = isGrid(on) ? "list" : "grid"),
  },
  refresh: { label: "Refresh", icon: RefreshCw, run: ({ folder }) => folder.refresh() },
  details: {
    label: "Details",
    icon: PanelRight,
    run: ({ folder: { room: { preferences: { hasDetails } } } }) =>
      void (hasDetails.value = !hasDetails.value),
  },
  up: {
    label: "Open the folder above",
    icon: CornerLeftUp,
    shortcut: "Alt+ArrowUp",
    help: ["Alt+↑", "Open the folder above"],
    run: ({ folder: { place: { project, drive, path }, room: { app: { router } } } }) =>
      router.go(
        path === ""
          ? links.drives(project)
          : links.folder(project, drive, folderOf({ name: path })),
      ),
  },
} satisfies Record<string, Action>;

export type ActionName = keyof typeof ACTIONS;

const SHARING = ["download", "share", "copyLink"] as const;
const CHANGES = ["-", "rename", "moveTo", "copyTo", "-", "remove"] as const;

/** The entries of menus in their order. */
export const MENUS = {
  entries: ["open", "openTab", "-", ...SHARING, ...CHANGES, "-", "duplicate", "details"],
  folder: ["upload", "newFolder", "paste", "-", "selectAll", "sort", "refresh", "details"],
  /** The menu of the bar for selected entries, and its buttons. */
  bar: [...SHARING, ...CHANGES, "-", "selectAll", "details"],
  buttons: ["download", "share", "moveTo", "remove"],
  /** The menu of small screens, with what does not fit into the header. */
  header: ["newFolder", "-", "layout", "details", "refresh", "-"],
  /** Keys that work wherever the focus is on the page of a folder. */
  page: ["selectAll", "up"],
} as const satisfies Record<string, readonly (ActionName | "-")[]>;

/** Returns an action for a menu or a button. */
export function actionOf(name: ActionName, on: Target): MenuAction {
  const { label, icon, shortcut, isDanger = false, run }: Action = ACTIONS[name];
  return {
    label: typeof label === "function" ? label(on) : label,
    icon: typeof icon === "function" ? icon(on) : icon,
    ...(shortcut === undefined ? {} : { shortcut }),
    isDanger,
    run: () => run(on),
  };
}

/** Returns the actions of a menu that are possible, in groups that are not empty. */
export function itemsOf(menu: keyof typeof MENUS, on: Target): (MenuAction | "-")[] {
  const items: (MenuAction | "-")[] = [];
  for (const name of MENUS[menu]) {
    if (name === "-") {
      if (items.length > 0 && items.at(-1) !== "-") items.push(name);
      continue;
    }
    const { isPossible = () => true }: Partial<Action> = ACTIONS[name];
    if (isPossible(on)) items.push(actionOf(name, on));
  }
  return items;
}

/** Returns the action of a menu that has a key. */
export function actionWithKey(
  key: string,
  menu: keyof typeof MENUS,
  on: Target,
): MenuAction | undefined {
  return itemsOf(menu, on).find((item): item is MenuAction =>
    item !== "-" && item.shortcut === key
  );
}

/** The keys of all actions, for the list of shortcuts. */
export const SHORTCUTS: readonly (readonly [keys: string, what: string])[] = Object.values(ACTIONS)
  .flatMap(({ shortcut, label, help }: Action) =>
    shortcut === undefined ? [] : [help ?? [shortcut, String(label)]]
  );

/** Opens the menu of what is selected, or of the folder if nothing is. */
export function openFilesMenu(folder: FolderModel, at: MenuPlace): void {
  const entries = folder.selected.peek();
  const items = itemsOf(entries.length === 0 ? "folder" : "entries", { folder, entries, at });
  void openMenu(folder.room.app, at, items, "Actions");
}

export function sortItems({ room: { preferences: { sort } } }: FolderModel): MenuItem[] {
  return (Object.keys(TITLES) as Column[]).map((column) => ({
    label: `Sort by ${TITLES[column].toLowerCase()}`,
    isChecked: sort.value.column === column,
    run: () => void (sort.value = sortedBy(sort.value, column)),
  }));
}

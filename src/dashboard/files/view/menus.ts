import {
  ArrowDownUp,
  ClipboardPaste,
  CopyPlus,
  ExternalLink,
  Eye,
  FolderOpen,
  ListChecks,
  PanelRight,
  RefreshCw,
  Upload,
} from "lucide";
import { serverAddress } from "../../core/server.ts";
import { mayUpload, uploadChosen } from "../../transfers/drop_zone.tsx";
import type { Transfers } from "../../transfers/transfers.ts";
import { type MenuAction, type MenuItem, type MenuPlace, openMenu } from "../../ui/menu.tsx";
import { pasteEntries } from "../actions/clipboard.ts";
import { type Entry, folderOf } from "../entry.ts";
import type { Column } from "../listing/order.ts";
import { selectAll } from "../listing/selection.ts";
import { sortedBy, TITLES } from "./column_heads.tsx";
import type { FolderModel } from "./folder_model.ts";

/** What a menu of the list can do besides the actions on files. */
interface MenuDeps {
  folder: FolderModel;
  transfers: Transfers;
  open: (entry: Entry) => void;
  place: MenuPlace;
}

/** Opens the menu of what is selected, or of the folder if nothing is. */
export function openFilesMenu(deps: MenuDeps): void {
  const { folder, place } = deps;
  const selected = folder.selected.peek();
  const [entry, ...others] = selected;
  const items = entry === undefined
    ? folderItems(deps)
    : others.length === 0
    ? entryItems(deps, entry)
    : [...folder.actions.menuFor(selected), "-" as const, detailsItem(folder)];
  void openMenu(folder.room.app, place, items, "Actions");
}

function entryItems({ folder, open }: MenuDeps, entry: Entry): MenuItem[] {
  const { actions, place, room: { app: { session } } } = folder;
  const isFolder = entry.kind === "folder";
  const own = actions.menuFor([entry]);
  const mayCopy = session.may("read") && session.may("write");
  return [
    {
      label: isFolder ? "Open" : "Preview",
      icon: isFolder ? FolderOpen : Eye,
      shortcut: "Enter",
      run: () => open(entry),
    },
    {
      label: "Open in a new tab",
      icon: ExternalLink,
      run: () =>
        void globalThis.open(`${serverAddress()}/${folder.hashOf(entry)}`, "_blank", "noopener"),
    },
    ...(own.length === 0 ? [] : ["-" as const]),
    ...own,
    "-",
    ...(mayCopy
      ? [{
        label: "Duplicate",
        icon: CopyPlus,
        run: () => actions.drop([entry.name], { drive: place.drive, path: folderOf(entry) }, true),
      }]
      : []),
    detailsItem(folder),
  ];
}

function folderItems({ folder, transfers, place }: MenuDeps): MenuItem[] {
  const { actions, place: here, room } = folder;
  const copied = room.copied.peek();
  const isPastable = copied !== undefined && room.app.session.may("write");
  return [
    ...(mayUpload(room.app.session, here)
      ? [{ label: "Upload", icon: Upload, run: () => uploadChosen(transfers, here) }]
      : []),
    ...actions.menuFor([]),
    ...(isPastable
      ? [{
        label: "Paste",
        icon: ClipboardPaste,
        shortcut: "Ctrl+V",
        run: () => pasteEntries(copied, here, room),
      }]
      : []),
    "-",
    selectAllItem(folder),
    {
      label: "Sort…",
      icon: ArrowDownUp,
      run: () => openMenu(room.app, place, sortItems(folder), "Sort"),
    },
    refreshItem(folder),
    detailsItem(folder),
  ];
}

/** The entry of menus that selects everything: touch screens have no key for it. */
export function selectAllItem({ selection, order }: FolderModel): MenuAction {
  return {
    label: "Select all",
    icon: ListChecks,
    shortcut: "Ctrl+A",
    run: () => void (selection.value = selectAll(selection.peek(), order.peek())),
  };
}

export function refreshItem(folder: FolderModel): MenuAction {
  return { label: "Refresh", icon: RefreshCw, run: () => folder.refresh() };
}

export function detailsItem({ room: { preferences: { hasDetails } } }: FolderModel): MenuAction {
  return {
    label: "Details",
    icon: PanelRight,
    run: () => void (hasDetails.value = !hasDetails.value),
  };
}

export function sortItems({ room: { preferences: { sort } } }: FolderModel): MenuItem[] {
  return (Object.keys(TITLES) as Column[]).map((column) => ({
    label: `Sort by ${TITLES[column].toLowerCase()}`,
    isChecked: sort.value.column === column,
    run: () => void (sort.value = sortedBy(sort.value, column)),
  }));
}

import type { Schemas } from "../core/api.ts";

export type TrashItem = Schemas["TrashItem"];

/** What was loaded of the trash of a drive. */
export interface DriveTrash {
  drive: string;
  /** Newest first. */
  items: readonly TrashItem[];
  /** Where the next page begins; absent if these are all. */
  last: string | undefined;
  /** Folders in which nothing is left. */
  gone: ReadonlySet<string>;
}

/** A row of the trash: a file, or the files of a folder that were deleted together. */
export interface TrashRow {
  key: string;
  drive: string;
  /** That of a folder ends with a slash. */
  name: string;
  /** Newest first. */
  items: readonly TrashItem[];
  /** Whether the server may have more of them. */
  isPartial: boolean;
}

/** Files that are deleted within this time of each other were deleted together, in milliseconds. */
const TOGETHER = 60_000;

/** Names that one call can ask for. */
const MAX_NAMES = 1000;

/** Returns the folders of deleted files, which may be gone: those with several of them. */
export function foldersOf(items: readonly TrashItem[]): string[] {
  const counts = new Map<string, number>();
  for (const { name, reason } of items) {
    if (reason !== "deleted") continue;
    for (const folder of foldersAbove(name)) counts.set(folder, (counts.get(folder) ?? 0) + 1);
  }
  return [...counts].filter(([, count]) => count > 1).map(([folder]) => folder)
    .slice(0, MAX_NAMES);
}

/** Returns the rows of several drives, newest first. */
export function rowsOf(parts: readonly DriveTrash[]): TrashRow[] {
  return parts.flatMap(rowsOfDrive).sort((a, b) => newest(b) - newest(a));
}

function newest({ items: [first] }: TrashRow): number {
  return Date.parse(first?.deleted ?? "");
}

function rowsOfDrive({ drive, items, last, gone }: DriveTrash): TrashRow[] {
  const groups: { folder: string | undefined; items: TrashItem[] }[] = [];
  /** The newest groups of folders. */
  const open = new Map<string, TrashItem[]>();
  for (const item of items) {
    const folder = item.reason === "deleted"
      ? foldersAbove(item.name).find((folder) => gone.has(folder))
      : undefined;
    const group = folder === undefined ? undefined : open.get(folder);
    if (group !== undefined && areTogether(group.at(-1), item)) {
      group.push(item);
      continue;
    }
    const begun = [item];
    groups.push({ folder, items: begun });
    if (folder !== undefined) open.set(folder, begun);
  }
  return groups.map(({ folder, items }) => {
    const [first] = items;
    const isFolder = folder !== undefined && items.length > 1;
    return {
      key: first?.id ?? "",
      drive,
      name: isFolder ? folder : first?.name ?? "",
      items,
      isPartial: isFolder && last !== undefined,
    };
  });
}

/** Returns which of the items below a folder, newest first, belong to a row: all that were deleted together. */
export function togetherWith(row: TrashRow, items: readonly TrashItem[]): TrashItem[] {
  const start = items.findIndex(({ id }) => id === row.key);
  const found = items.slice(start, start + 1);
  for (const item of items.slice(start + 1)) {
    if (!areTogether(found.at(-1), item)) break;
    if (item.reason === "deleted") found.push(item);
  }
  return found;
}

function areTogether(newer: TrashItem | undefined, older: TrashItem): boolean {
  return newer !== undefined && Date.parse(newer.deleted) - Date.parse(older.deleted) <= TOGETHER;
}

/** Returns the folders that a file is in, the outermost first. */
function foldersAbove(name: string): string[] {
  const folders: string[] = [];
  for (let at = name.indexOf("/"); at >= 0; at = name.indexOf("/", at + 1)) {
    folders.push(name.slice(0, at + 1));
  }
  return folders;
}

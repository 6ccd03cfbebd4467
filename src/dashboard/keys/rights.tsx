import type { Schemas } from "../core/api.ts";
import { formatDate, formatRelative } from "../core/format.ts";
import type { Permission } from "../core/session.ts";
import { isOver } from "../links/drive_links.ts";
import type { Column } from "../ui/table.tsx";

/** The permissions of keys with what they allow, in the order of the form. */
export const PERMISSIONS: readonly (readonly [Permission, label: string, hint: string])[] = [
  ["read", "Read", "Download files"],
  ["list", "List", "See names, search, see the trash"],
  ["write", "Write", "Upload files, create folders, restore"],
  ["delete", "Delete", "Delete files, empty the trash"],
  ["admin", "Administer", "Keys, applications, settings"],
];

/** Returns what a key may do, such as "Everything" or "Read, list in photos/2026/…". */
export function rightsText(
  { permissions, drives, name_prefix }: Pick<ListedKey, "permissions" | "drives" | "name_prefix">,
): string {
  const isAll = PERMISSIONS.every(([permission]) => permissions.includes(permission));
  const what = isAll ? "Everything" : PERMISSIONS
    .filter(([permission]) => permissions.includes(permission))
    .map(([, label], index) => index === 0 ? label : label.toLowerCase()).join(", ");
  const where = [
    drives === null ? "" : drives.join(", "),
    name_prefix === null ? "" : `names that begin with “${name_prefix}”`,
  ].filter(Boolean).join(": ");
  return where === "" ? what : `${what} in ${where}`;
}

/** A key as a table shows it, beside its name. */
export type ListedKey = Omit<Schemas["ProjectKeyList"]["keys"][number], "name" | "prefix">;

export const RIGHTS_COLUMNS: Column<ListedKey>[] = [
  { title: "May", cell: (key) => rightsText(key) },
  { title: "Last used", isMinor: true, cell: ({ last_used }) => formatRelative(last_used) },
  { title: "Created", isMinor: true, cell: ({ created }) => formatDate(created) },
  {
    title: "Expires",
    cell: ({ expires }) => {
      if (expires === null) return "Never";
      return isOver(expires) ? <span class="badge bad">Expired</span> : formatRelative(expires);
    },
  },
];

import { formatDate, formatRelative } from "../core/format.ts";
import type { Column } from "../ui/table.tsx";
import { type KeyRights, rightsText } from "./rights.ts";

/** A key as a table shows it, beside its name. */
export interface ListedKey extends KeyRights {
  created: string;
  expires: string | null;
  last_used: string | null;
}

/** The columns with the rights and times of keys. */
export const RIGHTS_COLUMNS: Column<ListedKey>[] = [
  { title: "May", cell: (key) => rightsText(key) },
  { title: "Last used", isMinor: true, cell: ({ last_used }) => formatRelative(last_used) },
  { title: "Created", isMinor: true, cell: ({ created }) => formatDate(created) },
  {
    title: "Expires",
    cell: ({ expires }) => {
      if (expires === null) return "Never";
      const isOver = Date.parse(expires) <= Date.now();
      return isOver ? <span class="badge bad">Expired</span> : formatRelative(expires);
    },
  },
];

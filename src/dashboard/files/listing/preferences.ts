import { effect, type Signal, signal } from "@preact/signals";
import type { Column, Sort } from "./order.ts";

export type Layout = "list" | "grid";

/** How people like to see their files. Kept in the browser. */
export interface Preferences {
  sort: Signal<Sort>;
  layout: Signal<Layout>;
  hasDetails: Signal<boolean>;
}

const STORED = "kvdrive.files";
const COLUMNS: readonly Column[] = ["name", "size", "modified", "type"];

/** Reads what was kept, and keeps what changes. */
export function createPreferences(storage: Storage): Preferences {
  const { column, isDescending, layout, hasDetails } = stored(storage);
  const known = COLUMNS.find((one) => one === column) ?? "name";
  const preferences: Preferences = {
    sort: signal({ column: known, isDescending: isDescending === true }),
    layout: signal(layout === "grid" ? "grid" : "list"),
    hasDetails: signal(hasDetails === true),
  };
  effect(() => {
    storage.setItem(
      STORED,
      JSON.stringify({
        ...preferences.sort.value,
        layout: preferences.layout.value,
        hasDetails: preferences.hasDetails.value,
      }),
    );
  });
  return preferences;
}

function stored(storage: Storage): Record<string, unknown> {
  try {
    return Object(JSON.parse(storage.getItem(STORED) ?? "{}"));
  } catch {
    return {};
  }
}

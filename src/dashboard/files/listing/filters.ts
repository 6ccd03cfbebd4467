import type { Entry } from "../entry.ts";
import { type Kind, typeOf } from "./kinds.ts";

export interface Filters {
  kind?: Kind;
  /** Bytes at least. */
  size?: number;
  /** Days since the last change: at most this many, or, if negative, at least. */
  age?: number;
}

export const CHOICES = {
  kind: [
    ["folder", "Folders"],
    ["image", "Images"],
    ["video", "Videos"],
    ["audio", "Audio"],
    ["document", "Documents"],
    ["archive", "Archives"],
    ["code", "Code and data"],
    ["other", "Other files"],
  ],
  size: [[1e6, "Over 1 MB"], [1e7, "Over 10 MB"], [1e8, "Over 100 MB"], [1e9, "Over 1 GB"]],
  age: [
    [1, "Last 24 hours"],
    [7, "Last 7 days"],
    [30, "Last 30 days"],
    [365, "Last year"],
    [-365, "Older than a year"],
  ],
} as const satisfies Record<keyof Filters, readonly (readonly [string | number, string])[]>;

/** Returns the filters in the address of a folder. What is no choice is left out. */
export function filtersIn(query: URLSearchParams): Filters {
  const chosen = Object.entries(CHOICES).flatMap(([name, choices]) => {
    const found = choices.find(([value]) => String(value) === query.get(name));
    return found === undefined ? [] : [[name, found[0]] as const];
  });
  return Object.fromEntries(chosen);
}

/** Returns filters as an address has them. */
export function queryOf(filters: Filters): Partial<Record<keyof Filters, string>> {
  return Object.fromEntries(Object.entries(filters).map(([name, value]) => [name, String(value)]));
}

const DAY = 86_400_000;

export function isFiltering({ kind, size, age }: Filters): boolean {
  return kind !== undefined || size !== undefined || age !== undefined;
}

/** Returns the entries that pass all filters. Folders have no size and no time: they pass none about these. */
export function filterEntries(
  entries: readonly Entry[],
  filters: Filters,
  now: number = Date.now(),
): readonly Entry[] {
  if (!isFiltering(filters)) return entries;
  const { kind, size, age } = filters;
  const border = age === undefined ? "" : new Date(now - Math.abs(age) * DAY).toISOString();
  return entries.filter((entry) =>
    (kind === undefined || typeOf(entry).kind === kind) &&
    (size === undefined || (entry.size ?? -1) >= size) &&
    (age === undefined || isWithin(entry.modified, border, age))
  );
}

function isWithin(modified: string | undefined, border: string, age: number): boolean {
  if (modified === undefined) return false;
  return age > 0 ? modified >= border : modified < border;
}

import { type Entry, labelOf } from "../entry.ts";
import { typeOf } from "./kinds.ts";

export type Column = "name" | "size" | "modified" | "type";

export interface Sort {
  column: Column;
  isDescending: boolean;
}

/** `img2` comes before `img10`, and case does not matter. */
const COLLATOR = new Intl.Collator("en", { numeric: true, sensitivity: "base" });

/** Compares two entries as people expect it: folders first, then by name. */
export function compareEntries(a: Entry, b: Entry): number {
  if (a.kind !== b.kind) return a.kind === "folder" ? -1 : 1;
  return COLLATOR.compare(labelOf(a), labelOf(b)) || compareText(a.name, b.name);
}

/** Names that differ in case only have an order, too. */
function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** Inserts entries into a sorted list. Comparing names is slow, and sorting takes few comparisons of two sorted lists. */
export function merge(sorted: readonly Entry[], added: readonly Entry[]): Entry[] {
  return [...sorted, ...added.toSorted(compareEntries)].sort(compareEntries);
}

/** Sorts entries that are in the order of `compareEntries`. Folders stay first; equal entries keep their order by name. */
export function sortEntries(
  byName: readonly Entry[],
  { column, isDescending }: Sort,
): readonly Entry[] {
  if (column === "name" && !isDescending) return byName;
  const firstFile = byName.findIndex(({ kind }) => kind === "file");
  const border = firstFile < 0 ? byName.length : firstFile;
  const folders = byName.slice(0, border);
  const files = byName.slice(border);
  if (column === "name") return [...folders.reverse(), ...files.reverse()];
  const sign = isDescending ? -1 : 1;
  const compare = COMPARE[column];
  return [...folders, ...files.sort((a, b) => sign * compare(a, b))];
}

const COMPARE: Record<Exclude<Column, "name">, (a: Entry, b: Entry) => number> = {
  size: (a, b) => (a.size ?? 0) - (b.size ?? 0),
  // Times of the server have one form, so their texts have the order of the times.
  modified: (a, b) => compareText(a.modified ?? "", b.modified ?? ""),
  type: (a, b) => compareText(typeOf(a).label, typeOf(b).label),
};

import { ArrowDown, ArrowUp } from "lucide";
import { Icon } from "../../ui/icon.tsx";
import type { Column, Sort } from "../listing/order.ts";
import { useFolder } from "./folder_model.ts";

export const TITLES: Record<Column, string> = {
  name: "Name",
  type: "Type",
  modified: "Modified",
  size: "Size",
};

/** Sorts by a column; a second time in the other direction. Large and new files come first. */
export function sortedBy(sort: Sort, column: Column): Sort {
  if (sort.column === column) return { column, isDescending: !sort.isDescending };
  return { column, isDescending: column === "size" || column === "modified" };
}

export function ColumnHeads() {
  const { room: { preferences: { sort } }, isSearching } = useFolder();
  const heads = (Object.keys(TITLES) as Column[]).map((column) => {
    if (column === "type" && isSearching) {
      return <div key={column} role="columnheader" class="cell-type">Folder</div>;
    }
    const isSorted = sort.value.column === column;
    const direction = sort.value.isDescending ? "descending" : "ascending";
    return (
      <div
        key={column}
        role="columnheader"
        class={`cell-${column}`}
        aria-sort={isSorted ? direction : undefined}
      >
        <button
          type="button"
          class="column-head line"
          onClick={() => void (sort.value = sortedBy(sort.value, column))}
        >
          {TITLES[column]}
          {isSorted ? <Icon of={sort.value.isDescending ? ArrowDown : ArrowUp} size={14} /> : null}
        </button>
      </div>
    );
  });
  return (
    <div role="rowgroup" class="heads">
      <div role="row" class="entry-row head-row" aria-rowindex={1}>
        {heads}
        <div role="columnheader" class="cell-menu">
          <span class="visually-hidden">Actions</span>
        </div>
      </div>
    </div>
  );
}

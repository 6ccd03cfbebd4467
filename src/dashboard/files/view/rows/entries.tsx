import type { VNode } from "preact";
import { useRef } from "preact/hooks";
import { EntryRow, EntryTile } from "./entry_row.tsx";
import { useFolder } from "../folder_model.ts";
import { type Geometry, type Lines, useMedia } from "../geometry.ts";
import { type Shown, slotsOf } from "./slots.ts";

/** A rendered entry with what it was rendered from. */
interface Rendered extends Shown {
  from: readonly unknown[];
  node: VNode;
}

/** The entries of some lines, and the focused one: the focus is not lost when it is scrolled away. */
export function Entries({ geometry: { columns, height }, lines, isShared }: {
  geometry: Geometry;
  lines: Lines;
  isShared: (name: string) => boolean;
}) {
  const { rows, selection, order, room } = useFolder();
  const { names, focus } = selection.value;
  const isDraggable = !useMedia("(pointer: coarse)");
  const focusIndex = Math.max(0, focus === undefined ? 0 : order.value.indexOf(focus));
  const One = room.preferences.layout.value === "grid" ? EntryTile : EntryRow;
  const before = useRef<readonly Rendered[]>([]);
  const next = useRef(0);
  const start = lines.first * columns;
  const end = Math.min(rows.value.length, lines.end * columns);
  const indexes = Array.from({ length: Math.max(0, end - start) }, (_, at) => start + at);
  if (focusIndex < start) indexes.unshift(focusIndex);
  else if (focusIndex >= end) indexes.push(focusIndex);
  const wanted = indexes.flatMap((index) => {
    const entry = rows.value[index];
    const isAside = index < start || index >= end;
    return entry === undefined ? [] : { index, name: entry.name, isAside };
  });
  // An element that is the same object is not rendered again, so scrolling costs the new rows only.
  const bySlot = new Map(before.current.map((one) => [one.slot, one]));
  before.current = [...slotsOf(before.current, wanted, lines.isJumping)].flatMap(
    ([index, known]): Rendered | [] => {
      const entry = rows.value[index];
      if (entry === undefined) return [];
      const slot = known ?? next.current++;
      const state = {
        isSelected: names.has(entry.name),
        isFocused: index === focusIndex,
        isShared: isShared(entry.name),
        isDraggable,
      };
      const from = [One, entry, index, columns, height, ...Object.values(state)];
      const last = bySlot.get(slot);
      if (last?.from.every((value, at) => value === from[at])) return last;
      const style = {
        height: `${height}px`,
        top: `${Math.floor(index / columns) * height}px`,
        left: `${index % columns * 100 / columns}%`,
        width: `${100 / columns}%`,
      };
      const node = <One key={slot} {...{ entry, index, style }} {...state} />;
      return { index, name: entry.name, slot, isFocused: state.isFocused, from, node };
    },
  );
  return <>{before.current.map(({ node }) => node)}</>;
}

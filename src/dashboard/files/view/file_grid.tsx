import type { RefObject } from "preact";
import { useLayoutEffect, useMemo, useRef } from "preact/hooks";
import { hasDialog, isField } from "../../transfers/drop_zone.tsx";
import { moveTo } from "../listing/selection.ts";
import { openFilesMenu } from "./actions.ts";
import { ColumnHeads } from "./column_heads.tsx";
import { startDrag, useDrop } from "./drag.ts";
import { Entries } from "./rows/entries.tsx";
import { type FolderModel, useFolder } from "./folder_model.ts";
import { type Geometry, useGeometry, useLines } from "./geometry.ts";
import { createKeyHandler } from "./keyboard.ts";
import { indexAt, usePointer } from "./pointer.ts";
import { useAnchor, useScrollMemory } from "./scroll_memory.ts";

/** The entries of a folder, as a list or as tiles. Only what can be seen is in the document. */
export function FileGrid({ label, isShared }: {
  label: string;
  isShared: (name: string) => boolean;
}) {
  const folder = useFolder();
  const { rows, selection, order, room } = folder;
  const layout = room.preferences.layout.value;
  const scroller = useRef<HTMLDivElement>(null);
  const geometry = useGeometry(scroller, layout);
  const lines = Math.ceil(rows.value.length / geometry.columns);
  const rendered = useLines(scroller, geometry, lines);
  const pointer = usePointer(folder);
  const keys = useMemo(
    () => createKeyHandler(folder, () => openFilesMenu(folder, focused(scroller))),
    [],
  );
  const drop = useDrop((event) => {
    const entry = rows.peek()[indexAt(event.target) ?? -1];
    const element = (event.target as Element).closest("[data-index]");
    return entry?.kind === "folder" && element !== null ? { path: entry.name, element } : undefined;
  });
  useAnchor(scroller, folder, geometry);
  useScrollMemory(scroller, folder, geometry);
  useFocus(scroller, folder, geometry);
  const { names } = selection.value;
  return (
    <div
      ref={scroller}
      class={`scroller ${layout} ${names.size > 0 ? "selecting" : ""}`}
      role="grid"
      aria-label={label}
      aria-multiselectable
      aria-rowcount={rows.value.length + 1}
      onKeyDown={(event) => {
        const { focus } = selection.peek();
        keys(event, geometry);
        if (selection.peek().focus !== focus) folder.attend();
      }}
      onFocusIn={(event) => {
        const name = order.peek().nameAt(indexAt(event.target) ?? -1);
        if (name !== undefined && name !== selection.peek().focus) {
          selection.value = moveTo(selection.peek(), name);
        }
      }}
      onDragStart={(event) => startDrag(event, folder)}
      {...pointer}
      {...drop}
    >
      {layout === "list" ? <ColumnHeads /> : null}
      <div role="rowgroup" class="canvas" style={{ height: `${lines * geometry.height}px` }}>
        <Entries {...{ geometry, isShared }} lines={rendered} />
      </div>
    </div>
  );
}

function focused(scroller: RefObject<HTMLElement | null>): HTMLElement {
  return scroller.current?.querySelector<HTMLElement>("[role=row][tabindex='0']") ?? document.body;
}

/** Scrolls to the entry that the keyboard is at, and moves the browser's focus there, as `FolderModel.attention` says. */
function useFocus(
  scroller: RefObject<HTMLElement | null>,
  { attention, selection, order }: FolderModel,
  geometry: Geometry,
): void {
  const turn = attention.value;
  const { focus } = selection.value;
  const seen = useRef(turn);
  useLayoutEffect(() => {
    const element = scroller.current;
    if (element === null) return;
    const isAsked = seen.current !== turn;
    seen.current = turn;
    if (isAsked && focus !== undefined) {
      const line = Math.floor(order.peek().indexOf(focus) / geometry.columns);
      reveal(element, line, geometry.height);
    }
    const follow = () => {
      const { activeElement } = document;
      // A view that has just opened has the focus in its heading.
      const isFree = activeElement === document.body || activeElement?.tagName === "H1";
      const isOurs = (turn.isTaking || element.contains(activeElement)) &&
        !isField(activeElement) && !hasDialog();
      if (isFree || (isAsked && isOurs)) focused(scroller).focus({ preventScroll: true });
    };
    // If `useScrollMemory` has just changed the selection, the next rendering moves the focus.
    if (selection.peek().focus === focus) follow();
    // The row may be rendered only after the scrolling.
    const frame = requestAnimationFrame(follow);
    return () => cancelAnimationFrame(frame);
  }, [focus, turn]);
}

/** Scrolls as little as possible until a line is visible. */
function reveal(scroller: HTMLElement, line: number, height: number): void {
  if (line < 0) return;
  const head = scroller.querySelector<HTMLElement>(".heads")?.offsetHeight ?? 0;
  const canvas = scroller.querySelector<HTMLElement>(".canvas");
  const start = (canvas?.offsetTop ?? 0) + line * height;
  if (start - head < scroller.scrollTop) scroller.scrollTop = start - head;
  const below = start + height - scroller.clientHeight;
  if (below > scroller.scrollTop) scroller.scrollTop = below;
}

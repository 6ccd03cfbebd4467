import type { RefObject } from "preact";
import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import { moveTo } from "../listing/selection.ts";
import type { FolderModel } from "./folder_model.ts";
import type { Geometry } from "./geometry.ts";

/** Time without scrolling after which the place is kept, in milliseconds: browsers limit how often that is allowed. */
const REST = 150;

/** Frames in which the place is looked for in a complete list: it may have become shorter. */
const MAX_FRAMES = 30;

/** Where the list was left: kept in the entry of the history, so Back, Forward and a reload find it. */
interface Left {
  top: number;
  focus?: string | undefined;
}

/** Keeps where a list is scrolled to, and goes there when its address is opened again. */
export function useScrollMemory(
  scroller: RefObject<HTMLElement | null>,
  folder: FolderModel,
  { columns }: Geometry,
): void {
  const { rows, selection, source } = folder;
  const pending = useRef<Left | undefined>(leftIn(history.state));
  const lines = Math.ceil(rows.value.length / columns);
  useLayoutEffect(() => {
    const element = scroller.current;
    const left = pending.current;
    if (element === null || left === undefined || lines === 0) return;
    if (left.focus !== undefined && selection.peek().focus === undefined) {
      selection.value = moveTo(selection.peek(), left.focus);
    }
    element.scrollTop = left.top;
    // A long list arrives in parts, and its height follows them.
    let frame = 0;
    let frames = 0;
    const goThere = () => {
      if (pending.current === undefined) return;
      element.scrollTop = left.top;
      const isThere = Math.abs(element.scrollTop - left.top) < 1;
      const isComplete = source.peek().progress.peek() === "complete";
      if (isThere || (isComplete && ++frames > MAX_FRAMES)) pending.current = undefined;
      else frame = requestAnimationFrame(goThere);
    };
    frame = requestAnimationFrame(goThere);
    return () => cancelAnimationFrame(frame);
  }, [lines === 0]);
  useEffect(() => {
    const element = scroller.current;
    if (element === null) return;
    let timer: number | undefined;
    const keep = () => {
      if (pending.current !== undefined) return;
      const left: Left = { top: element.scrollTop, focus: selection.peek().focus };
      history.replaceState({ ...Object(history.state), left }, "");
    };
    const keepSoon = () => {
      clearTimeout(timer);
      timer = setTimeout(keep, REST);
    };
    folder.keepPlace = keep;
    const dispose = selection.subscribe(keepSoon);
    // Who scrolls does not want to be moved any more.
    const giveUp = () => void (pending.current = undefined);
    const leaving = new AbortController();
    const { signal } = leaving;
    element.addEventListener("scroll", keepSoon, { passive: true, signal });
    element.addEventListener("wheel", giveUp, { passive: true, signal });
    element.addEventListener("pointerdown", giveUp, { signal });
    return () => {
      clearTimeout(timer);
      dispose();
      leaving.abort();
    };
  }, []);
}

/** Entries below the first visible one that are looked for if it is gone. */
const MAX_ANCHORS = 100;

/**
 * Keeps what is visible where it is when entries above it come or go, as others may change the list at any time. While the
 * list is read for the first time it is left alone: its entries arrive in another order.
 */
export function useAnchor(
  scroller: RefObject<HTMLElement | null>,
  { order, source, filters, room: { preferences: { sort } } }: FolderModel,
  { columns, height }: Geometry,
): void {
  // With another one of these, the list begins anew.
  const view = [source.value, filters.value, sort.value, columns, height];
  const isComplete = source.value.progress.value === "complete";
  const before = useRef({ order: order.value, view, isComplete });
  useLayoutEffect(() => {
    const element = scroller.current;
    const last = before.current;
    before.current = { order: order.value, view, isComplete };
    if (element === null || !last.isComplete || view.some((part, at) => part !== last.view[at])) {
      return;
    }
    const line = Math.ceil(element.scrollTop / height);
    if (line === 0 || last.order === order.value) return;
    for (let index = line * columns; index < line * columns + MAX_ANCHORS; index++) {
      const now = order.value.indexOf(last.order.nameAt(index) ?? "");
      if (now < 0) continue;
      element.scrollTop += (Math.floor(now / columns) - Math.floor(index / columns)) * height;
      return;
    }
  }, [order.value, isComplete, ...view]);
}

function leftIn(state: unknown): Left | undefined {
  return (state as { left?: Left } | null)?.left;
}

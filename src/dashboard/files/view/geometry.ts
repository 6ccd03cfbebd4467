import type { RefObject } from "preact";
import { useEffect, useLayoutEffect, useState } from "preact/hooks";
import type { Layout } from "../listing/preferences.ts";

/** How entries are laid out: a list has one column. Lengths are in pixels. */
export interface Geometry {
  columns: number;
  /** The height of a line. */
  height: number;
  /** Lines that fit into the view. */
  visible: number;
}

const ROW = 36;
const TOUCH_ROW = 48;
/** A row with two lines of text, on narrow screens. */
const TALL_ROW = 60;
const TILE = { minWidth: 168, narrowWidth: 140, height: 196 };
/** Lines that are kept beyond the visible ones, so that the next ones are there before they are seen. */
const OVERSCAN = 8;

/** Whether a media query matches. */
export function useMedia(query: string): boolean {
  const [matches, setMatches] = useState(() => matchMedia(query).matches);
  useEffect(() => {
    const list = matchMedia(query);
    const follow = () => setMatches(list.matches);
    list.addEventListener("change", follow);
    return () => list.removeEventListener("change", follow);
  }, [query]);
  return matches;
}

/** Follows the size of the view. */
export function useGeometry(scroller: RefObject<HTMLElement | null>, layout: Layout): Geometry {
  const [size, setSize] = useState({ width: 800, height: 600 });
  const isNarrow = useMedia("(width < 640px)");
  const isTouch = useMedia("(pointer: coarse)");
  useLayoutEffect(() => {
    const element = scroller.current;
    if (element === null) return;
    const measure = () =>
      setSize({
        width: element.clientWidth - 2 * paddingOf(element),
        height: element.clientHeight,
      });
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(element);
    return () => observer.disconnect();
  }, []);
  const isGrid = layout === "grid";
  const minWidth = isNarrow ? TILE.narrowWidth : TILE.minWidth;
  const height = isGrid ? TILE.height : isNarrow ? TALL_ROW : isTouch ? TOUCH_ROW : ROW;
  return {
    columns: isGrid ? Math.max(2, Math.floor(size.width / minWidth)) : 1,
    height,
    visible: Math.ceil(size.height / height),
  };
}

function paddingOf(element: HTMLElement): number {
  return parseFloat(getComputedStyle(element).paddingLeft) || 0;
}

/** Returns the first line and the line after the last one that are to be rendered. */
export function useLines(
  scroller: RefObject<HTMLElement | null>,
  { height, visible }: Geometry,
  count: number,
): [first: number, end: number] {
  const [top, setTop] = useState(0);
  useLayoutEffect(() => {
    const element = scroller.current;
    if (element === null) return;
    // The state changes once for several lines, so most scrolling renders nothing.
    const step = OVERSCAN / 2;
    const follow = () => setTop(Math.floor(element.scrollTop / height / step) * step);
    follow();
    element.addEventListener("scroll", follow, { passive: true });
    return () => element.removeEventListener("scroll", follow);
  }, [height, count === 0]);
  const end = Math.min(count, top + visible + OVERSCAN + OVERSCAN / 2);
  return [Math.max(0, Math.min(top - OVERSCAN, end - visible - OVERSCAN)), end];
}

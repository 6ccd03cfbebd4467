import type { RefObject } from "preact";
import { useEffect, useLayoutEffect, useState } from "preact/hooks";
import type { Layout } from "../listing/preferences.ts";

/** How entries are laid out: a list has one column. Lengths are in pixels. */
export interface Geometry {
  columns: number;
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
/** Time without scrolling after which a list that jumped rests, in milliseconds. */
const REST = 100;

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

export interface Lines {
  first: number;
  /** The line after the last one. */
  end: number;
  /** Whether the list jumps: then these are the visible lines only, until it rests. */
  isJumping: boolean;
}

export function useLines(
  scroller: RefObject<HTMLElement | null>,
  { height, visible }: Geometry,
  count: number,
): Lines {
  const [{ top, isJumping }, setView] = useState({ top: 0, isJumping: false });
  useLayoutEffect(() => {
    const element = scroller.current;
    if (element === null) return;
    let timer: number | undefined;
    let last = element.scrollTop;
    // The state changes once for several lines, so most scrolling renders nothing.
    const step = OVERSCAN / 2;
    const show = () => {
      clearTimeout(timer);
      const top = Math.floor(element.scrollTop / height / step) * step;
      setView((view) => view.top === top && !view.isJumping ? view : { top, isJumping: false });
    };
    const follow = () => {
      const distance = Math.abs(element.scrollTop - last);
      last = element.scrollTop;
      if (distance < visible * height / 2) return show();
      setView({ top: Math.floor(last / height), isJumping: true });
      clearTimeout(timer);
      timer = setTimeout(show, REST);
    };
    show();
    element.addEventListener("scroll", follow, { passive: true });
    return () => {
      clearTimeout(timer);
      element.removeEventListener("scroll", follow);
    };
  }, [height, visible, count === 0]);
  if (isJumping) return { first: top, end: Math.min(count, top + visible + 1), isJumping };
  // As many lines at the ends of the list as elsewhere, so that later no element has to be made.
  const all = visible + 2.5 * OVERSCAN;
  const first = Math.max(0, Math.min(top - OVERSCAN, count - all));
  return { first, end: Math.min(count, first + all), isJumping };
}

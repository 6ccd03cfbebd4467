import { useRef } from "preact/hooks";

/** How far a finger moves at least, in pixels. */
const DISTANCE = 60;

/** Recognizes a finger that moves sideways. What scrolls sideways by itself, and an enlarged image, keep the movement. */
export function useSwipe(move: (by: -1 | 1) => void) {
  const start = useRef<{ x: number; y: number } | undefined>(undefined);
  return {
    onTouchStart: (event: TouchEvent) => {
      const [touch, other] = event.touches;
      const isTaken = touch === undefined || other !== undefined || keeps(event.target as Element);
      start.current = isTaken ? undefined : { x: touch.clientX, y: touch.clientY };
    },
    onTouchEnd: (event: TouchEvent) => {
      const from = start.current;
      const [to] = event.changedTouches;
      start.current = undefined;
      if (from === undefined || to === undefined) return;
      const x = to.clientX - from.x;
      if (Math.abs(x) < DISTANCE || Math.abs(x) < 2 * Math.abs(to.clientY - from.y)) return;
      move(x < 0 ? 1 : -1);
    },
  };
}

function keeps(target: Element): boolean {
  for (let element: Element | null = target; element !== null; element = element.parentElement) {
    if (element.matches(".lightbox-stage")) return false;
    if (element.matches("[data-zoomed], video, audio, input, button")) return true;
    const isScroller = element.scrollWidth > element.clientWidth + 1;
    if (
      isScroller && getComputedStyle(element).overflowX !== "visible" &&
      getComputedStyle(element).overflowX !== "hidden"
    ) return true;
  }
  return true;
}

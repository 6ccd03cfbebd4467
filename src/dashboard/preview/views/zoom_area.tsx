import { Maximize, ZoomIn, ZoomOut } from "lucide";
import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { IconButton } from "../../ui/button.tsx";
import { fitted, isFitted, moved, type Sizes, type Zoom, zoomed } from "./zoom.ts";

/** One step of the buttons and keys. */
const STEP = 1.5;
/** How much a pixel of the wheel zooms. */
const WHEEL = 0.002;
/** The most that one turn of a wheel counts, in pixels. */
const MAX_TURN = 120;
/** From this scale on, pixels are shown as squares. */
const PIXELATED = 3;

const MIDDLE = { x: 0, y: 0 };

interface Point {
  x: number;
  y: number;
}

/** An image that is zoomed with the wheel, two fingers, a double click, keys and buttons, and moved by dragging. */
export function ZoomArea({ src, label, isVector = false, onLoad, onError, tools }: {
  src: string;
  label: string;
  isVector?: boolean;
  onLoad?: () => void;
  onError: () => void;
  /** More buttons beside those of the zoom. */
  tools?: ComponentChildren;
}) {
  const area = useRef<HTMLDivElement>(null);
  const [sizes, setSizes] = useState<Sizes>();
  const [zoom, setZoom] = useState<Zoom>();
  const shown = sizes === undefined ? undefined : zoom ?? fitted(sizes);
  const change = (next: (zoom: Zoom, sizes: Sizes) => Zoom | undefined) => {
    if (sizes !== undefined) setZoom((zoom) => next(zoom ?? fitted(sizes), sizes));
  };
  const zoomBy = (factor: number, point: Point = MIDDLE) =>
    change((zoom, sizes) => {
      const next = zoomed(zoom, zoom.scale * factor, point, sizes);
      return isFitted(next, sizes) ? undefined : next;
    });
  useFrame(area, setSizes);
  useZoomKeys(area, zoomBy, () => setZoom(undefined));
  const gestures = useGestures(area, { zoomBy, move: (by) => change((z, s) => moved(z, by, s)) });
  const isFit = shown === undefined || sizes === undefined || isFitted(shown, sizes);
  const measure = (image: HTMLImageElement) => {
    const { clientWidth: frameWidth = 0, clientHeight: frameHeight = 0 } = area.current ?? {};
    // A drawing may have no size of its own.
    const width = image.naturalWidth || 300;
    const height = image.naturalHeight || 150;
    setSizes({ width, height, frameWidth, frameHeight, isVector });
    onLoad?.();
  };
  const doubleClick = (event: MouseEvent) => {
    if (!isFit) return setZoom(undefined);
    const to = Math.max(1, (shown?.scale ?? 1) * 2.5);
    zoomBy(to / (shown?.scale ?? 1), pointIn(area.current, event));
  };
  return (
    <div
      ref={area}
      class="zoom-area"
      data-closes={isFit || undefined}
      data-zoomed={isFit ? undefined : true}
      onDblClick={doubleClick}
      {...gestures}
    >
      <img
        src={src}
        alt={label}
        draggable={false}
        class={!isVector && (shown?.scale ?? 1) >= PIXELATED ? "pixelated" : ""}
        style={styleOf(shown, sizes)}
        onLoad={(event) => measure(event.currentTarget)}
        onError={onError}
      />
      <div class="preview-tools line" onDblClick={(event) => event.stopPropagation()}>
        {tools}
        <IconButton icon={ZoomOut} label="Zoom out" onClick={() => zoomBy(1 / STEP)} />
        <output aria-label="Zoom">{Math.round((shown?.scale ?? 1) * 100)}%</output>
        <IconButton icon={ZoomIn} label="Zoom in" onClick={() => zoomBy(STEP)} />
        <IconButton icon={Maximize} label="Fit to window" onClick={() => setZoom(undefined)} />
      </div>
    </div>
  );
}

function styleOf(zoom: Zoom | undefined, sizes: Sizes | undefined): Record<string, string> {
  // Until it is measured it covers nothing: a click is beside it.
  if (zoom === undefined || sizes === undefined) return { transform: "scale(0)" };
  return {
    width: `${sizes.width * zoom.scale}px`,
    height: `${sizes.height * zoom.scale}px`,
    transform: `translate(calc(-50% + ${zoom.x}px), calc(-50% + ${zoom.y}px))`,
  };
}

function useFrame(
  area: { readonly current: HTMLElement | null },
  setSizes: (change: (sizes: Sizes | undefined) => Sizes | undefined) => void,
): void {
  useEffect(() => {
    const element = area.current;
    if (element === null) return;
    const observer = new ResizeObserver(() => {
      const { clientWidth: frameWidth, clientHeight: frameHeight } = element;
      setSizes((sizes) => sizes && { ...sizes, frameWidth, frameHeight });
    });
    observer.observe(element);
    return () => observer.disconnect();
  }, []);
}

/** The keys `+`, `-` and `0` anywhere in the dialog. */
function useZoomKeys(
  area: { readonly current: HTMLElement | null },
  zoomBy: (factor: number) => void,
  fit: () => void,
): void {
  const keys = useRef({ zoomBy, fit });
  keys.current = { zoomBy, fit };
  useEffect(() => {
    const dialog = area.current?.closest("dialog");
    const press = (event: KeyboardEvent) => {
      if (event.ctrlKey || event.metaKey || (event.target as Element).closest("input, select")) {
        return;
      }
      if (event.key === "+" || event.key === "=") keys.current.zoomBy(STEP);
      else if (event.key === "-") keys.current.zoomBy(1 / STEP);
      else if (event.key === "0") keys.current.fit();
    };
    dialog?.addEventListener("keydown", press);
    return () => dialog?.removeEventListener("keydown", press);
  }, []);
}

/** The wheel, dragging, and two fingers. */
function useGestures(
  area: { readonly current: HTMLElement | null },
  { zoomBy, move }: { zoomBy: (factor: number, point: Point) => void; move: (by: Point) => void },
) {
  const fingers = useRef(new Map<number, Point>());
  const drag = (event: PointerEvent) => {
    const before = fingers.current.get(event.pointerId);
    if (before === undefined) return;
    const now = pointIn(area.current, event);
    fingers.current.set(event.pointerId, now);
    const other = [...fingers.current].find(([id]) => id !== event.pointerId)?.[1];
    if (other === undefined) return move({ x: now.x - before.x, y: now.y - before.y });
    const middle = { x: (now.x + other.x) / 2, y: (now.y + other.y) / 2 };
    zoomBy(distance(now, other) / Math.max(1, distance(before, other)), middle);
  };
  const release = (event: PointerEvent) => void fingers.current.delete(event.pointerId);
  return {
    onWheel: (event: WheelEvent) => {
      event.preventDefault();
      // Firefox counts lines, not pixels.
      const turn = event.deltaY * (event.deltaMode === WheelEvent.DOM_DELTA_LINE ? 30 : 1);
      // The fingers of a touch pad move less than a wheel turns.
      const speed = WHEEL * (event.ctrlKey ? 4 : 1);
      const turned = Math.max(-MAX_TURN, Math.min(MAX_TURN, turn));
      zoomBy(Math.exp(-turned * speed), pointIn(area.current, event));
    },
    onPointerDown: (event: PointerEvent) => {
      if (event.button !== 0 || (event.target as Element).closest("button") !== null) return;
      fingers.current.set(event.pointerId, pointIn(area.current, event));
      (event.currentTarget as Element).setPointerCapture(event.pointerId);
    },
    onPointerMove: drag,
    onPointerUp: release,
    onPointerCancel: release,
  };
}

function distance(one: Point, other: Point): number {
  return Math.hypot(one.x - other.x, one.y - other.y);
}

/** A place in the frame, from its middle. */
function pointIn(area: Element | null, { clientX, clientY }: MouseEvent): Point {
  const { left, top, width, height } = area?.getBoundingClientRect() ?? new DOMRect();
  return { x: clientX - left - width / 2, y: clientY - top - height / 2 };
}

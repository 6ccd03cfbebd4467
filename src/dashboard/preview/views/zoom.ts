/** How an image is shown: its scale, and how far its middle is from that of the frame, in pixels. */
export interface Zoom {
  scale: number;
  x: number;
  y: number;
}

/** The sizes of an image and of the frame that it is shown in, in pixels. */
export interface Sizes {
  width: number;
  height: number;
  frameWidth: number;
  frameHeight: number;
  /** Whether it has no pixels, and may fill the frame. */
  isVector: boolean;
}

/** The largest scale: a pixel of an image as a square of this width. */
const MAX_SCALE = 16;

/** The scale at which the whole image is seen; images of pixels are not enlarged. */
export function fitScale({ width, height, frameWidth, frameHeight, isVector }: Sizes): number {
  const fit = Math.min(frameWidth / width, frameHeight / height);
  return isVector ? fit : Math.min(1, fit);
}

/** The whole image in the middle. */
export function fitted(sizes: Sizes): Zoom {
  return { scale: fitScale(sizes), x: 0, y: 0 };
}

/** Whether the image is as large as the frame allows, so that it cannot be dragged. */
export function isFitted(zoom: Zoom, sizes: Sizes): boolean {
  return zoom.scale <= fitScale(sizes) * 1.001;
}

/** Changes the scale. @param point A place in the frame that stays where it is, from the middle of the frame. */
export function zoomed(zoom: Zoom, scale: number, point: { x: number; y: number }, sizes: Sizes) {
  const fit = fitScale(sizes);
  const next = Math.max(fit, Math.min(scale, Math.max(MAX_SCALE, fit)));
  const factor = next / zoom.scale;
  return moved(
    {
      scale: next,
      x: point.x - (point.x - zoom.x) * factor,
      y: point.y - (point.y - zoom.y) * factor,
    },
    { x: 0, y: 0 },
    sizes,
  );
}

/** Moves the image. Its edges do not leave those of the frame. */
export function moved(
  { scale, x, y }: Zoom,
  by: { x: number; y: number },
  { width, height, frameWidth, frameHeight }: Sizes,
): Zoom {
  const roomX = Math.max(0, (width * scale - frameWidth) / 2);
  const roomY = Math.max(0, (height * scale - frameHeight) / 2);
  return {
    scale,
    x: Math.max(-roomX, Math.min(roomX, x + by.x)),
    y: Math.max(-roomY, Math.min(roomY, y + by.y)),
  };
}

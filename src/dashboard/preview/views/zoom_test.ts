import { assert, assertEquals } from "@std/assert";
import { fitScale, fitted, isFitted, moved, type Sizes, zoomed } from "./zoom.ts";

const SIZES: Sizes = {
  width: 2000,
  height: 1000,
  frameWidth: 500,
  frameHeight: 500,
  isVector: false,
};

Deno.test("An image fits, and a small one keeps its size", () => {
  assertEquals(fitScale(SIZES), 0.25);
  assertEquals(fitScale({ ...SIZES, width: 20, height: 10 }), 1);
  assertEquals(fitScale({ ...SIZES, width: 20, height: 10, isVector: true }), 25);
});

Deno.test("The place under the pointer stays where it is", () => {
  const before = zoomed(fitted(SIZES), 1, { x: 0, y: 0 }, SIZES);
  const point = { x: 100, y: 50 };
  const after = zoomed(before, 2, point, SIZES);
  const shown = (zoom: typeof after) => (point.x - zoom.x) / zoom.scale;
  assert(Math.abs(shown(before) - shown(after)) < 1e-9);
});

Deno.test("An image is not smaller than it fits, and its edges stay outside of the frame", () => {
  const small = zoomed(fitted(SIZES), 0.01, { x: 0, y: 0 }, SIZES);
  assertEquals(isFitted(small, SIZES), true);
  const large = moved({ scale: 1, x: 0, y: 0 }, { x: 9999, y: -9999 }, SIZES);
  assertEquals(large, { scale: 1, x: 750, y: -250 });
  assertEquals(moved(fitted(SIZES), { x: 10, y: 10 }, SIZES), { scale: 0.25, x: 0, y: 0 });
});

import { assertEquals } from "@std/assert";
import { slotsOf } from "./slots.ts";

function shown(from: number, end: number, focused = -1) {
  return Array.from({ length: end - from }, (_, at) => {
    const index = from + at;
    return { index, name: `f${index}`, slot: at, isFocused: index === focused };
  });
}

function wanted(from: number, end: number) {
  return shown(from, end).map(({ index, name }) => ({ index, name, isAside: false }));
}

Deno.test("at rest entries keep their elements, and new ones get those that are free", () => {
  const slots = slotsOf(shown(0, 4), wanted(2, 7), false);
  assertEquals([...slots], [[2, 2], [3, 3], [4, 0], [5, 1], [6, undefined]]);
});

Deno.test("a jump changes the nearest elements, keeps the others and moves none", () => {
  assertEquals([...slotsOf(shown(0, 5), wanted(90, 92), true)], [
    [0, 0],
    [1, 1],
    [2, 2],
    [90, 3],
    [91, 4],
  ]);
  assertEquals([...slotsOf(shown(50, 54), wanted(9, 11), true)], [
    [9, 0],
    [10, 1],
    [52, 2],
    [53, 3],
  ]);
  assertEquals([...slotsOf(shown(0, 4), wanted(2, 5), true)], [[0, 0], [2, 1], [3, 2], [4, 3]]);
});

Deno.test("the element with the focus is not used for another entry", () => {
  const free = [...slotsOf(shown(0, 2, 0), wanted(5, 7), false).values()];
  assertEquals(free, [1, undefined]);
  const jump = slotsOf(shown(0, 3, 1), [
    { index: 1, name: "f1", isAside: true },
    ...wanted(8, 9),
  ], true);
  assertEquals([...jump], [[0, 0], [1, 1], [8, 2]]);
});

Deno.test("no element passes by the one with the focus", () => {
  const focused = { index: 12, name: "f12", isAside: true };
  const slots = slotsOf(shown(10, 15, 12), [...wanted(4, 8), focused], false);
  assertEquals([...slots], [[4, 0], [5, 1], [6, undefined], [7, undefined], [12, 2]]);
});

Deno.test("a focused entry that is not visible gets an element that is not visible either", () => {
  const aside = { index: 20, name: "f20", isAside: true };
  const slots = slotsOf(shown(0, 4), [...wanted(2, 4), aside], true);
  assertEquals([...slots], [[1, 1], [2, 2], [3, 3], [20, 0]]);
});

import { assertEquals, assertStrictEquals } from "@std/assert";
import {
  clear,
  EMPTY,
  extend,
  moveTo,
  type Order,
  rename,
  retain,
  selectAll,
  type Selection,
  selectOnly,
  toggle,
} from "./selection.ts";

function orderOf(text: string): Order {
  const names = [...text];
  return {
    length: names.length,
    nameAt: (index) => names[index],
    indexOf: (name) => names.indexOf(name),
  };
}

const ORDER = orderOf("abcdef");

function text({ names, focus }: Selection): string {
  return `${[...names].toSorted().join("")} ${focus ?? "-"}`;
}

Deno.test("A range reaches from the anchor in both directions", () => {
  const start = selectOnly("c");
  assertEquals(text(extend(start, "e", ORDER)), "cde e");
  assertEquals(text(extend(extend(start, "e", ORDER), "a", ORDER)), "abc a");
  assertEquals(text(extend(EMPTY, "b", ORDER)), "b b");
});

Deno.test("A range is added to what was toggled before", () => {
  const picked = toggle(toggle(selectOnly("a"), "f"), "d");
  assertEquals(text(picked), "adf d");
  assertEquals(text(toggle(picked, "f")), "ad f");
  assertEquals(text(extend(picked, "c", ORDER, true)), "acdf c");
});

Deno.test("The focus moves without the selection, and stays when it is cleared", () => {
  const moved = moveTo(selectOnly("a"), "d");
  assertEquals(text(moved), "a d");
  assertEquals(text(extend(moved, "d", ORDER)), "abcd d");
  assertEquals(text(clear(moved)), " d");
  assertEquals(text(selectAll(moved, ORDER)), "abcdef d");
});

Deno.test("What is gone is not selected; the focus is at its place", () => {
  const selection = toggle(selectOnly("b"), "d");
  assertEquals(text(retain(selection, ORDER, orderOf("abcef"))), "b e");
  assertEquals(text(retain(selection, ORDER, orderOf("ab"))), "b b");
  assertEquals(text(retain(selection, ORDER, orderOf(""))), " -");
  assertStrictEquals(retain(selection, ORDER, orderOf("fedcba")), selection);
});

Deno.test("An entry that gets another name stays selected, and keeps the focus", () => {
  const selection = toggle(selectOnly("a"), "d");
  assertEquals(text(rename(selection, { from: "d", to: "b" })), "ab b");
  assertEquals(text(rename(selection, { from: "x", to: "b" })), "ad d");
});

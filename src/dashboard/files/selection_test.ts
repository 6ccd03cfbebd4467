import { assertEquals } from "@std/assert";
import { Selection } from "./selection.js";

const ROWS = ["a", "b", "c", "d", "e"].map((name) => ({ name }));

Deno.test("A range starts at the last selected row, in either direction", () => {
  const selection = new Selection();
  selection.toggle("b");
  selection.extendTo("d", ROWS);
  assertEquals(selection.names, ["b", "c", "d"]);
  selection.extendTo("a", ROWS);
  assertEquals(selection.names.toSorted(), ["a", "b", "c", "d"]);
});

Deno.test("Without a first row a range is the row itself", () => {
  const selection = new Selection();
  selection.extendTo("c", ROWS);
  assertEquals(selection.names, ["c"]);
  const other = new Selection();
  other.toggle("gone");
  other.extendTo("b", ROWS);
  assertEquals(other.names, ["gone", "b"]);
});

Deno.test("Rows are deselected one by one, all at once, or when they are deleted", () => {
  const selection = new Selection();
  selection.all(ROWS);
  selection.toggle("c");
  selection.remove(["a", "x"]);
  assertEquals([selection.names, selection.size], [["b", "d", "e"], 3]);
  selection.clear();
  assertEquals(selection.size, 0);
});

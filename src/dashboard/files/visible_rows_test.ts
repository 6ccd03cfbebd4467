import { assertEquals } from "@std/assert";
import { scrolledTo, visibleRows } from "./visible_rows.js";

const BOX = { top: 40_000, height: 400, rowHeight: 40 };

Deno.test("Of 100,000 rows only the visible ones and a margin are rendered", () => {
  assertEquals(visibleRows(BOX, 100_000), { first: 988, end: 1022 });
  assertEquals(visibleRows({ ...BOX, top: 0 }, 100_000), { first: 0, end: 22 });
  assertEquals(visibleRows(BOX, 1005), { first: 988, end: 1005 });
});

Deno.test("A shorter or empty list has no rows beyond its end", () => {
  assertEquals(visibleRows(BOX, 3), { first: 3, end: 3 });
  assertEquals(visibleRows(BOX, 0), { first: 0, end: 0 });
  assertEquals(visibleRows({ ...BOX, rowHeight: 0 }, 10), { first: 0, end: 0 });
});

Deno.test("Scrolling moves no further than needed to show a row", () => {
  assertEquals(scrolledTo(BOX, 1003), 40_000);
  assertEquals(scrolledTo(BOX, 999), 39_960);
  assertEquals(scrolledTo(BOX, 1010), 40_040);
});

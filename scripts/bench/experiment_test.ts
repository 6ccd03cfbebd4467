import { assertEquals, assertThrows } from "@std/assert";
import { percentile, resultOf } from "./experiment.ts";

Deno.test("a percentile is one of the figures, and an even median the mean of the middle two", () => {
  assertEquals(percentile([3, 1, 2], 50), 2);
  assertEquals(percentile([4, 1, 2, 3], 50), 2.5);
  assertEquals(percentile([1, 2, 3, 4], 99), 4);
  assertThrows(() => percentile([], 50), RangeError);
});

Deno.test("a row holds while the ratio of the medians is within its bound", () => {
  const row = { name: "row", unit: "ms", required: 2 } as const;
  const figures = [[8, 6, 7], [3, 3, 3], [14, 14, 14]];
  const result = resultOf({ ...row, bound: "at least" }, figures);
  assertEquals([result.median, result.min, result.max, result.limit], [7, 6, 8, 3]);
  assertEquals([result.holds, result.against], [true, 14]);
  assertEquals(resultOf({ ...row, bound: "at most" }, figures).holds, false);
});

import { assertEquals, assertThrows } from "@std/assert";
import { alternate, percentile, resultOf, type Row } from "./experiment.ts";

Deno.test("takeTurns() warms up, then reverses the order in every second round", async () => {
  let order = "";
  const side = (name: string, figure: number) => () => {
    order += name;
    return Promise.resolve([figure]);
  };
  const rounds = await alternate([side("a", 1), side("b", 2), side("c", 3)], 3, 0);
  assertEquals(order, "abc" + "abc" + "cba" + "abc");
  assertEquals(rounds, Array.from({ length: 3 }, () => [[1], [2], [3]]));
});

const speed: Row = { name: "speed", unit: "req/s", bound: "at least", required: 0.5 };
const time: Row = { name: "time", unit: "ms", bound: "at most", required: 2 };

Deno.test("percentile() returns the middle and the upper end", () => {
  assertEquals(percentile([3, 1, 2], 50), 2);
  assertEquals(percentile([4, 1, 2, 3], 50), 2.5);
  assertEquals(percentile(Array.from({ length: 101 }, (_, i) => i), 99), 99);
  assertEquals(percentile([7], 99), 7);
});

Deno.test("percentile() refuses an empty list", () => {
  assertThrows(() => percentile([], 50), RangeError);
});

Deno.test("resultOf() compares the medians of both sides", () => {
  const result = resultOf(speed, { work: [10, 30, 20], limit: [50, 40, 30] });
  assertEquals(result, {
    row: speed,
    median: 20,
    min: 10,
    max: 30,
    limit: 40,
    ratio: 0.5,
    holds: true,
  });
});

Deno.test("resultOf() knows in which direction a row holds", () => {
  assertEquals(resultOf(speed, { work: [1], limit: [4] }).holds, false);
  assertEquals(resultOf(speed, { work: [9], limit: [4] }).holds, true);
  assertEquals(resultOf(time, { work: [8], limit: [4] }).holds, true);
  assertEquals(resultOf(time, { work: [9], limit: [4] }).holds, false);
});

Deno.test("resultOf() does not accept missing figures", () => {
  assertEquals(resultOf(speed, { work: [Number.NaN], limit: [1] }).holds, false);
  assertEquals(resultOf(time, { work: [Number.NaN], limit: [1] }).holds, false);
});

Deno.test("resultOf() includes the median of the other git state", () => {
  assertEquals(resultOf(time, { work: [1], limit: [1], against: [5, 3, 4] }).against, 4);
});

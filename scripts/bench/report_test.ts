import { assertEquals, assertMatch } from "@std/assert";
import { type Result, resultOf } from "./experiment.ts";
import { brokenRows, header, rowLine, toJson } from "./report.ts";

const fast: Result = resultOf(
  { name: "fast", unit: "req/s", bound: "at least", required: 0.5 },
  { work: [100, 120, 110], limit: [100] },
);
const slow: Result = resultOf(
  { name: "slow", unit: "ms", bound: "at most", required: 1.5 },
  { work: [3.14159], limit: [1], against: [2] },
);

Deno.test("rowLine() shows every figure and whether the row holds", () => {
  assertMatch(rowLine(fast), /^fast +req\/s +110 +100 +120 +100 +1\.10 +≥ 0\.5 +yes$/);
  assertMatch(rowLine(slow), /^slow +ms +3\.14 +3\.14 +3\.14 +1\.00 +3\.14 +≤ 1\.5 +NO /);
});

Deno.test("rowLine() compares with another git state", () => {
  assertMatch(rowLine(slow), / 2\.00 +\+57 %$/);
  assertMatch(header("main"), /holds +at main +change$/);
});

Deno.test("brokenRows() names those that do not hold", () => {
  assertEquals(brokenRows([fast, slow]), ["slow"]);
});

Deno.test("toJson() has the machine and all figures", () => {
  assertEquals(JSON.parse(toJson("a machine", [fast])), {
    machine: "a machine",
    rows: [{
      name: "fast",
      unit: "req/s",
      median: 110,
      min: 100,
      max: 120,
      limit: 100,
      ratio: 1.1,
      bound: "at least",
      required: 0.5,
      holds: true,
    }],
  });
});

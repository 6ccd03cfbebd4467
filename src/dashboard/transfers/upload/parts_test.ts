import { assertEquals } from "@std/assert";
import { missingParts, planParts } from "./parts.ts";

Deno.test("Parts cover a file without a gap, and the last has the rest", () => {
  assertEquals(planParts(25, 10), [
    { part: 1, start: 0, end: 10 },
    { part: 2, start: 10, end: 20 },
    { part: 3, start: 20, end: 25 },
  ]);
  assertEquals(planParts(20, 10).map(({ end }) => end), [10, 20]);
  assertEquals(planParts(0, 10), []);
});

Deno.test("Parts that are absent or have another size are missing", () => {
  const plan = planParts(25, 10);
  const stored = [{ part: 2, size: 10 }, { part: 3, size: 4 }, { part: 9, size: 10 }];
  assertEquals(missingParts(plan, stored).map(({ part }) => part), [1, 3]);
  assertEquals(missingParts(plan, []), plan);
});

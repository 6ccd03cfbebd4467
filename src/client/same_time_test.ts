import { assertEquals } from "@std/assert";
import { isSameTime } from "./same_time.ts";

Deno.test("Times are the same down to the millisecond, or the second where that is all there is", () => {
  const cases: [here: number, there: number, same: boolean][] = [
    [1700000000123, 1700000000123, true],
    [1700000000122, 1700000000123, true],
    [1700000000120, 1700000000123, false],
    [1700000000000, 1700000000123, true],
    [1700000000123, 1700000000000, true],
    [1700000001000, 1700000000123, false],
    [1700000001000, 1700000000999, true],
  ];
  for (const [here, there, same] of cases) assertEquals(isSameTime(here, there), same);
});

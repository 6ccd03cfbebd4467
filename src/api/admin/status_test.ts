import { assertEquals, assertMatch } from "@std/assert";
import { GIB } from "../../rules/units.ts";
import { diskWarnings } from "./status.ts";

Deno.test("a disk is nearly full below a tenth of its size, and below 10 GiB besides the reserve", () => {
  const cases: [free: number, total: number, warning: RegExp | undefined][] = [
    [50 * GIB, 100 * GIB, undefined],
    [12 * GIB, 1000 * GIB, undefined],
    [10 * GIB, 1000 * GIB, /nearly full: 11 GB of 1.1 TB are free/],
    [4 * GIB, 20 * GIB, undefined],
    [2 * GIB, 20 * GIB, /nearly full/],
    [GIB, 20 * GIB, /is full, and uploads are refused/],
    [0, 20 * GIB, /is full, and uploads are refused/],
  ];
  for (const [free, total, warning] of cases) {
    const warnings = [...diskWarnings({ free, total }, GIB)];
    assertEquals(warnings.length, warning === undefined ? 0 : 1, `${free} of ${total}`);
    if (warning !== undefined) assertMatch(warnings[0] ?? "", warning);
  }
  assertEquals([...diskWarnings(undefined, GIB)], []);
});

import { assertEquals } from "@std/assert";
import { join } from "@std/path/join";
import { ROOT } from "../package/parts.ts";
import { EVERY_FORM, PACKED_FILE } from "./black_box.ts";
import { ALONE, LONG, planProcesses } from "./schedule.ts";

Deno.test("Every test file that a list names exists", async () => {
  for (const path of [...LONG, ...ALONE, ...EVERY_FORM, ...PACKED_FILE]) {
    assertEquals((await Deno.stat(join(ROOT, path))).isFile, true, path);
  }
});

Deno.test("Long files are begun first, the longest before others, and those that measure the machine run last", () => {
  const alone = "tests/faults/memory_test.ts";
  const quick = ["tests/api/a_test.ts", "tests/api/b_test.ts"];
  const slow = "tests/cli/c_test.ts";
  const unit = "src/d_test.ts";
  assertEquals(planProcesses([slow, ...quick, alone, unit, ...LONG.toReversed()]), {
    long: LONG.map((file): [string] => [file]),
    others: [[unit], ["tests/api/a_test.ts", "tests/api/b_test.ts"], [slow]],
    alone: [[alone]],
  });
});

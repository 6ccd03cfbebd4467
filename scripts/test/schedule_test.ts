import { assert, assertEquals } from "@std/assert";
import { join } from "@std/path/join";
import { ROOT } from "../package/parts.ts";
import { EVERY_FORM, PACKED_FILE } from "./black_box.ts";
import { ALONE, LONG, planProcesses, WAITING } from "./schedule.ts";

Deno.test("Every test file that a list names exists", async () => {
  for (const path of [...LONG, ...WAITING, ...ALONE, ...EVERY_FORM, ...PACKED_FILE]) {
    assertEquals((await Deno.stat(join(ROOT, path))).isFile, true, path);
  }
});

Deno.test("What waits is begun first, the longest before others, and what measures the machine runs last", () => {
  const [first, ...others] = WAITING;
  assert(first !== undefined);
  const alone = "tests/faults/memory_test.ts";
  const quick = ["tests/api/a_test.ts", "tests/api/b_test.ts"];
  const slow = "tests/cli/c_test.ts";
  const unit = "src/d_test.ts";
  const files = [slow, ...quick, alone, unit, ...WAITING, ...LONG.toReversed()];
  assertEquals(planProcesses(files), {
    long: [[first, ...others], ...LONG.map((file): [string] => [file])],
    others: [[unit], ["tests/api/a_test.ts", "tests/api/b_test.ts"], [slow]],
    alone: [[alone]],
  });
});

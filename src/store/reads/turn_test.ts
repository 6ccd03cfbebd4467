import { assert, assertEquals } from "@std/assert";
import { BlockedTime, Turn } from "./turn.ts";

Deno.test("Reads from memory never exhaust the time that reads may block", () => {
  const blocked = new BlockedTime();
  for (let now = 0; now < 1000; now++) {
    blocked.add(now, now + 0.4, 1);
    blocked.add(now, now + 9, 1000);
    assert(!blocked.isExhausted(now + 1));
  }
});

Deno.test("Reads that wait for a disk block a tenth of the time, after a few at once", () => {
  const blocked = new BlockedTime();
  let now = 0;
  let reads = 0;
  while (now < 10_000) {
    if (blocked.isExhausted(now)) {
      now++;
      continue;
    }
    blocked.add(now, now + 8, 1);
    now += 8;
    reads++;
  }
  const share = reads * 8 / now;
  assert(share > 0.08 && share < 0.12, `${share}`);
});

Deno.test("A process that was paused during a read reads directly again after seconds", () => {
  const blocked = new BlockedTime();
  blocked.add(0, 3_600_000, 1);
  assert(blocked.isExhausted(3_600_001));
  assert(!blocked.isExhausted(3_610_000));
});

Deno.test("A turn is over after a millisecond, and its end begins another one", async () => {
  const turn = new Turn();
  assertEquals([turn.isOver(5), turn.isOver(5.9), turn.isOver(6.1)], [false, false, true]);
  await turn.next();
  assertEquals([turn.isOver(7), turn.isOver(7.5)], [false, false]);
});

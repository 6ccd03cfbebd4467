import { assertEquals } from "@std/assert";
import { openMemoryDatabase } from "../engine/database.ts";
import { SECOND } from "../../rules/units.ts";
import { WebhookLease } from "./delivery_queue.ts";

Deno.test("One process holds the lease, and another takes it over when it is silent", async () => {
  const db = await openMemoryDatabase();
  try {
    let now = 0;
    const [one, two] = [1, 2].map(() => new WebhookLease(db, () => now));
    if (one === undefined || two === undefined) return;
    assertEquals([await one.hold(), await two.hold()], [true, false]);
    for (now = 4; now <= 40; now += 4) {
      now *= SECOND;
      assertEquals([await one.hold(), await two.hold()], [true, false]);
      now /= SECOND;
    }
    // It dies at 40 s.
    const times: number[] = [];
    for (now = 44 * SECOND; now < 70 * SECOND; now += 4 * SECOND) {
      if (await two.hold()) times.push(now / SECOND);
    }
    assertEquals(times[0], 52);
    assertEquals([one.isHeld, await one.hold(), two.isHeld], [false, false, true]);
    await two.release();
    assertEquals([two.isHeld, await one.hold(), await two.hold()], [false, true, false]);
    now += 12 * SECOND;
    assertEquals(one.isHeld, false);
  } finally {
    await db.close();
  }
});

import { assertEquals } from "@std/assert";
import { keptBy, type Retention } from "./retention.ts";

/** A snapshot every six hours, for so many days. */
function snapshots(days: number) {
  const start = Date.parse("2026-01-01T01:00:00Z");
  return Array.from({ length: 4 * days }, (_, i) => {
    const time = start + i * 6 * 3_600_000;
    return { id: String(i), time };
  });
}

function kept(retention: Retention, days = 100): string[] {
  const all = snapshots(days);
  const staying = keptBy(retention, all);
  return all.filter((one) => staying.has(one))
    .map(({ time }) => new Date(time).toISOString().slice(5, 13));
}

Deno.test("without a rule all snapshots stay", () => {
  assertEquals(kept({}).length, 400);
});

Deno.test("each rule keeps the newest snapshot of its periods", () => {
  assertEquals(kept({ last: 2 }), ["04-10T13", "04-10T19"]);
  assertEquals(kept({ hourly: 3 }), ["04-10T07", "04-10T13", "04-10T19"]);
  assertEquals(kept({ daily: 3 }), ["04-08T19", "04-09T19", "04-10T19"]);
  // 5 April 2026 is a Sunday.
  assertEquals(kept({ weekly: 2 }), ["04-05T19", "04-10T19"]);
  assertEquals(kept({ monthly: 9 }), ["01-31T19", "02-28T19", "03-31T19", "04-10T19"]);
});

Deno.test("rules add up, and the newest snapshot always stays", () => {
  assertEquals(kept({ last: 1, daily: 2, monthly: 2 }), ["03-31T19", "04-09T19", "04-10T19"]);
  assertEquals(kept({ last: 5 }, 0), []);
});

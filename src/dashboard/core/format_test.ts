import { assertEquals } from "@std/assert";
import {
  formatAge,
  formatBytes,
  formatCount,
  formatDuration,
  formatNumber,
  formatShare,
  formatSpeed,
} from "./format.js";

Deno.test("Bytes are written in the shortest unit", () => {
  const cases: [number, string][] = [
    [0, "0 B"],
    [1, "1 B"],
    [999, "999 B"],
    [1000, "1.0 kB"],
    [1499, "1.5 kB"],
    [99_940, "99.9 kB"],
    [99_960, "100 kB"],
    [999_499, "999 kB"],
    [999_500, "1.0 MB"],
    [10_485_760, "10.5 MB"],
    [2.5e12, "2.5 TB"],
    [9e18, "9000 PB"],
  ];
  for (const [bytes, text] of cases) assertEquals(formatBytes(bytes), text);
});

Deno.test("Numbers, shares and speeds", () => {
  assertEquals(formatCount(1_234_567), "1,234,567");
  assertEquals([formatNumber(1, "file"), formatNumber(0, "file")], ["1 file", "0 files"]);
  assertEquals(formatNumber(2, "entry", "entries"), "2 entries");
  const shares = [[0, 10], [1, 0], [1, 100_000], [1, 300], [5, 50], [1, 3], [10, 10]] as const;
  assertEquals(shares.map(([part, whole]) => formatShare(part, whole)), [
    "0%",
    "0%",
    "under 0.1%",
    "0.3%",
    "10%",
    "33%",
    "100%",
  ]);
  assertEquals(formatSpeed(1_400_000), "1.4 MB/s");
});

Deno.test("Durations and ages", () => {
  const seconds = [0, 8.4, 59.6, 200, 3900, Infinity];
  assertEquals(seconds.map(formatDuration), [
    "0 s",
    "8 s",
    "1 min 0 s",
    "3 min 20 s",
    "1 h 5 min",
    "unknown",
  ]);
  const now = Date.parse("2026-01-01T12:00:00Z");
  const ages = [0, 59, 60, 3599, 3600, 86_400, 172_800, 40 * 86_400].map((age) =>
    formatAge(now - age * 1000, now)
  );
  assertEquals(ages, [
    "just now",
    "just now",
    "1 minute ago",
    "59 minutes ago",
    "1 hour ago",
    "yesterday",
    "2 days ago",
    "last month",
  ]);
  assertEquals(formatAge(now + 7_200_000, now), "in 2 hours");
});

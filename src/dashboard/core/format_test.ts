import { assertEquals } from "@std/assert";
import { formatBytes, formatMoment, formatRelative, formatTime, plural } from "./format.ts";

Deno.test("Sizes have three digits at most, and one after the point", () => {
  const cases: [number, string][] = [
    [0, "0 B"],
    [999, "999 B"],
    [1000, "1 kB"],
    [1500, "1.5 kB"],
    [99_949, "99.9 kB"],
    [99_951, "100 kB"],
    [999_600, "1 MB"],
    [5_000_000_000, "5 GB"],
  ];
  for (const [bytes, text] of cases) assertEquals(formatBytes(bytes), text);
});

Deno.test("A count agrees with its noun", () => {
  assertEquals([0, 1, 2000].map((count) => plural(count, "file")), [
    "0 files",
    "1 file",
    "2,000 files",
  ]);
});

Deno.test("Moments near now are relative, others are dates", () => {
  const now = Date.parse("2026-11-22T12:00:00Z");
  assertEquals(formatRelative("2026-11-22T11:59:50Z", now), "just now");
  assertEquals(formatRelative("2026-11-22T11:57:00Z", now), "3 minutes ago");
  assertEquals(formatRelative("2026-11-24T12:00:00Z", now), "in 2 days");
  assertEquals(formatRelative("2026-01-02T12:00:00Z", now), "Jan 2, 2026");
  assertEquals(formatRelative(null, now), "Never");
});

Deno.test("A moment has its distance, unless that is a date as well", () => {
  const now = Date.now();
  assertEquals(formatMoment(now - 3 * 60_000), `3 minutes ago (${formatTime(now - 3 * 60_000)})`);
  assertEquals(formatMoment("2020-01-02T12:00:00Z"), formatTime("2020-01-02T12:00:00Z"));
});

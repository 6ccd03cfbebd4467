import { assertEquals } from "@std/assert";
import { parseDuration } from "./duration.ts";

Deno.test("A duration is a number with a unit, or of seconds", () => {
  const cases = [
    ["1ms", 1],
    ["500ms", 500],
    ["10s", 10_000],
    ["30m", 1_800_000],
    ["24h", 86_400_000],
    ["7d", 604_800_000],
    ["24d", 2_073_600_000],
    ["90", 90_000],
    ["1.5s", 1500],
    ["0.5h", 1_800_000],
    ["007s", 7000],
    [" 10s ", 10_000],
    ["2147483647ms", 2_147_483_647],
  ] as const;
  for (const [text, milliseconds] of cases) assertEquals(parseDuration(text), milliseconds, text);
});

Deno.test("What is no time that a timer can wait is no duration", () => {
  const texts = [
    "",
    " ",
    "0",
    "0s",
    "0.4ms",
    "-5s",
    "+5s",
    "1e3s",
    "0x10",
    "5 s",
    "5S",
    "5sec",
    "s",
    "1s2s",
    "1h30m",
    ".5s",
    "5.s",
    "1,5s",
    "Infinity",
    "NaN",
    "constructor",
    "2147483648ms",
    "25d",
    `${"9".repeat(400)}d`,
  ];
  for (const text of texts) assertEquals(parseDuration(text), undefined, text);
});

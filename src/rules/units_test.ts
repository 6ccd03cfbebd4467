import { assertEquals } from "@std/assert";
import { formatBytes, parseByteSize, parseDuration } from "./units.ts";

const SIZES: Record<string, number> = {
  "1": 1,
  "1000": 1000,
  "0900": 900,
  "12B": 12,
  "500MB": 500_000_000,
  "500mb": 500_000_000,
  "10 GB": 10_000_000_000,
  " 10GB ": 10_000_000_000,
  "1.5TB": 1_500_000_000_000,
  "0.5kB": 500,
  "1.1GB": 1_100_000_000,
  "2PB": 2e15,
  "1KiB": 1024,
  "3MiB": 3 * 2 ** 20,
  "10GiB": 10 * 2 ** 30,
  "0.25tib": 2 ** 38,
  "1PiB": 2 ** 50,
  "9007199254740991": Number.MAX_SAFE_INTEGER,
};

Deno.test("A size is a number of bytes or of a unit", () => {
  for (const [text, bytes] of Object.entries(SIZES)) {
    assertEquals(parseByteSize(text), bytes, text);
  }
});

Deno.test("A text that is no size, zero or more than 2^53 - 1 bytes is no size", () => {
  const texts = ["", " ", "0", "0.0GB", "0.2", "-1", "+1", "1e9", "GB", "10G", "10 G B", "10GBs"];
  const more = [
    "1.5",
    "2.0B",
    "1,5GB",
    "1.GB",
    ".5GB",
    "0x10",
    "ten",
    "NaN",
    "9007199254740992",
    "9PiB",
    "none",
  ];
  const names = ["1constructor", "1toString", "1 __proto__"];
  for (const text of [...texts, ...more, ...names]) {
    assertEquals(parseByteSize(text), undefined, text);
  }
});

Deno.test("The smallest size can be chosen", () => {
  assertEquals([parseByteSize("0", 0), parseByteSize("0kB", 0)], [0, 0]);
  assertEquals([parseByteSize("1KiB", 1024), parseByteSize("1kB", 1024)], [1024, undefined]);
});

Deno.test("A size is formatted in the largest unit it fills", () => {
  const texts: [number, string][] = [
    [0, "0 B"],
    [999, "999 B"],
    [1000, "1.0 kB"],
    [9949, "9.9 kB"],
    [9950, "10 kB"],
    [999_499, "999 kB"],
    [999_500, "1.0 MB"],
    [10_485_760, "10 MB"],
    [1_500_000_000, "1.5 GB"],
    [Number.MAX_SAFE_INTEGER, "9.0 PB"],
  ];
  for (const [bytes, text] of texts) assertEquals(formatBytes(bytes), text);
});

Deno.test("A duration is a number of seconds or of a unit", () => {
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

Deno.test("A text that is no duration, zero or too long for a timer is no duration", () => {
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

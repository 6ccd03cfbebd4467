import { assertEquals } from "@std/assert";
import { type ByteRange, parseRange } from "./byte_range.ts";

const HUGE = "9".repeat(400);

type Case = readonly [
  header: string | null,
  size: number,
  wanted: ByteRange | "unsatisfiable" | undefined,
];

function assertRanges(cases: readonly Case[]): void {
  for (const [header, size, wanted] of cases) {
    assertEquals(parseRange(header, size), wanted, `${header?.slice(0, 60)} of ${size} bytes`);
  }
}

Deno.test("A range includes its first and its last byte", () => {
  assertRanges([
    ["bytes=0-0", 10_000, { start: 0, end: 1 }],
    ["bytes=0-499", 10_000, { start: 0, end: 500 }],
    ["bytes=500-999", 10_000, { start: 500, end: 1000 }],
    ["bytes=9999-9999", 10_000, { start: 9999, end: 10_000 }],
    ["bytes=0000-00004", 10, { start: 0, end: 5 }],
  ]);
});

Deno.test("A range without an end, or past the file's end, stops at the file's end", () => {
  assertRanges([
    ["bytes=9500-", 10_000, { start: 9500, end: 10_000 }],
    ["bytes=0-", 1, { start: 0, end: 1 }],
    ["bytes=5-10000", 10_000, { start: 5, end: 10_000 }],
    ["bytes=5-9007199254740993", 10, { start: 5, end: 10 }],
    [`bytes=5-${HUGE}`, 10, { start: 5, end: 10 }],
  ]);
});

Deno.test("A suffix range is the last bytes, or all of a shorter file", () => {
  assertRanges([
    ["bytes=-500", 10_000, { start: 9500, end: 10_000 }],
    ["bytes=-1", 10, { start: 9, end: 10 }],
    ["bytes=-10", 10, { start: 0, end: 10 }],
    ["bytes=-11", 10, { start: 0, end: 10 }],
    [`bytes=-${HUGE}`, 10, { start: 0, end: 10 }],
    ["bytes=-0", 10, "unsatisfiable"],
    ["bytes=-000", 10, "unsatisfiable"],
  ]);
});

Deno.test("A range past the end of the file is unsatisfiable", () => {
  assertRanges([
    ["bytes=10-", 10, "unsatisfiable"],
    ["bytes=10-10", 10, "unsatisfiable"],
    ["bytes=11-20", 10, "unsatisfiable"],
    ["bytes=9007199254740993-9007199254740994", 10, "unsatisfiable"],
    [`bytes=${HUGE}-`, 10, "unsatisfiable"],
    [`bytes=${HUGE}-${HUGE}`, 10, "unsatisfiable"],
  ]);
});

Deno.test("An empty file satisfies no range, and a suffix range of it is ignored", () => {
  assertRanges([
    ["bytes=0-", 0, "unsatisfiable"],
    ["bytes=0-0", 0, "unsatisfiable"],
    ["bytes=-0", 0, "unsatisfiable"],
    ["bytes=-5", 0, undefined],
  ]);
});

Deno.test("The unit is case-insensitive and blanks around the range are ignored", () => {
  assertRanges([
    ["Bytes=1-2", 10, { start: 1, end: 3 }],
    ["BYTES=1-2", 10, { start: 1, end: 3 }],
    ["bytes= 1-2", 10, { start: 1, end: 3 }],
    ["bytes=\t1-2 ", 10, { start: 1, end: 3 }],
  ]);
});

Deno.test("A header that is not one well-formed range of bytes is ignored", () => {
  const headers = [
    null,
    "",
    "bytes",
    "bytes=",
    "bytes=-",
    "bytes=--5",
    "bytes=5",
    "bytes=2-1",
    `bytes=${HUGE}9-${HUGE}8`,
    "bytes=9007199254740993-9007199254740992",
    "bytes=a-b",
    "bytes=1-2x",
    "bytes=1.5-2",
    "bytes=+1-2",
    "bytes=0x1-2",
    "bytes=1 - 2",
    "bytes =1-2",
    "bytes:1-2",
    "items=1-2",
    "bytes=0-1,3-4",
    "bytes=0-1,",
    "bytes=-1,-2",
    "bytes=\u0661-\u0662",
    "bytes=1-2\n",
  ];
  assertRanges(headers.map((header) => [header, 10, undefined] as const));
});

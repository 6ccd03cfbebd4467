import { assertEquals } from "@std/assert";
import { MAX_PARTS, MIN_PART, type PartSize, partsProblem } from "./payloads.ts";

function parts(...entries: readonly (readonly [part: number, size: number])[]): PartSize[] {
  return entries.map(([part, size]) => ({ part, size }));
}

Deno.test("Parts 1 to n make a file if all but the last have 5 MB", () => {
  const cases = [
    parts(),
    parts([1, 0]),
    parts([1, 1]),
    parts([1, MIN_PART - 1]),
    parts([1, MIN_PART], [2, 0]),
    parts([1, MIN_PART], [2, 1]),
    parts([1, MIN_PART], [2, MIN_PART + 1], [3, 2 * MIN_PART]),
    Array.from({ length: MAX_PARTS }, (_, i) => ({ part: i + 1, size: MIN_PART })),
  ];
  for (const some of cases) assertEquals(partsProblem(some), undefined);
});

Deno.test("A gap is reported with the missing part numbers", () => {
  const cases = [
    [parts([2, 1]), "part 1 of 2 is missing; upload it first"],
    [parts([1, MIN_PART], [3, 1]), "part 2 of 3 is missing; upload it first"],
    [parts([2, MIN_PART], [4, 1]), "parts 1, 3 of 4 are missing; upload them first"],
    [parts([11, 1]), "parts 1, 2, 3, 4, 5, 6, 7, 8, 9, 10 of 11 are missing; upload them first"],
    [
      parts([MAX_PARTS, 1]),
      "parts 1, 2, 3, 4, 5, 6, 7, 8, 9, 10 and 9989 more of 10000 are missing; upload them first",
    ],
  ] as const;
  for (const [some, what] of cases) {
    const wanted = `Cannot complete the upload: ${what}`;
    assertEquals(partsProblem(some), wanted);
  }
});

Deno.test("Parts that are too small are reported with their numbers", () => {
  const small = Array.from({ length: 12 }, (_, i) => [i + 1, 1] as const);
  const cases = [
    [parts([1, MIN_PART - 1], [2, 1]), "part 1 is"],
    [parts([1, MIN_PART], [2, 0], [3, 1]), "part 2 is"],
    [parts([1, 1], [2, MIN_PART], [3, 1], [4, 1]), "parts 1, 3 are"],
    [parts(...small), "parts 1, 2, 3, 4, 5, 6, 7, 8, 9, 10 and 1 more are"],
  ] as const;
  for (const [some, what] of cases) {
    const wanted =
      `Cannot complete the upload: ${what} smaller than 5000000 bytes; only the last part may be`;
    assertEquals(partsProblem(some), wanted);
  }
});

Deno.test("A gap and parts that are too small are reported together", () => {
  assertEquals(
    partsProblem(parts([1, 1], [3, 1])),
    "Cannot complete the upload: part 2 of 3 is missing; upload it first; " +
      "and part 1 is smaller than 5000000 bytes; only the last part may be",
  );
});

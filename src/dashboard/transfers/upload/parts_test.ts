import { assertEquals } from "@std/assert";
import { missingParts, PART_SIZE } from "./parts.ts";

Deno.test("Parts cover a file without a gap, and the last has the rest", () => {
  assertEquals(missingParts(2 * PART_SIZE + 5), [
    { part: 1, start: 0, end: PART_SIZE },
    { part: 2, start: PART_SIZE, end: 2 * PART_SIZE },
    { part: 3, start: 2 * PART_SIZE, end: 2 * PART_SIZE + 5 },
  ]);
  assertEquals(missingParts(2 * PART_SIZE).map(({ end }) => end), [PART_SIZE, 2 * PART_SIZE]);
  assertEquals(missingParts(0), []);
});

Deno.test("Parts that are absent or have another size are missing", () => {
  const size = PART_SIZE;
  const stored = [{ part: 2, size }, { part: 3, size: 4 }, { part: 9, size }];
  assertEquals(missingParts(2 * PART_SIZE + 5, stored).map(({ part }) => part), [1, 3]);
});

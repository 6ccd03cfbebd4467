import { assertEquals } from "@std/assert";
import { parseSize, sizeText } from "./limit_fields.ts";

Deno.test("A size is a number with a unit, in powers of 1000", () => {
  const cases: [string, number | null | undefined][] = [
    ["", null],
    ["  ", null],
    ["0", 0],
    ["10 GB", 10e9],
    ["1.5tb", 1.5e12],
    ["1,000 kB", 1e6],
    ["12 b", 12],
    ["ten", undefined],
    ["-1", undefined],
    ["1 XB", undefined],
    ["99999 TB", undefined],
  ];
  for (const [text, bytes] of cases) assertEquals(parseSize(text), bytes, text);
});

Deno.test("A size is written as it would be entered", () => {
  for (const bytes of [null, 0, 1, 1500, 10e9, 1_234_567]) {
    assertEquals(parseSize(sizeText(bytes)), bytes);
  }
  assertEquals(sizeText(10e9), "10 GB");
});

import { assertEquals } from "@std/assert";
import { type Cell, table } from "./table.ts";

function lines(headings: readonly string[], rows: readonly (readonly Cell[])[]): string[] {
  return table(headings, rows, (line) => line).split("\n");
}

Deno.test("Columns are as wide as their content, and numbers are aligned right", () => {
  assertEquals(
    lines(["ID", "FILES", "NAME"], [["a", 5, "one"], ["longer", 12_345_678, null], ["b", 0, ""]]),
    [
      "ID         FILES  NAME",
      "a              5  one",
      "longer  12345678  -",
      "b              0",
      "",
    ],
  );
});

Deno.test("Columns are aligned by their width on a terminal", () => {
  const rows = [["日本語", 1], ["e\u0301 👩‍👩‍👧", 2], ["abcdef", 3]];
  assertEquals(lines(["NAME", "N"], rows), [
    "NAME    N",
    "日本語  1",
    "e\u0301 👩‍👩‍👧    2",
    "abcdef  3",
    "",
  ]);
});

Deno.test("Each row is one line, as control characters are escaped", () => {
  assertEquals(lines(["NAME", "B"], [["a\n\x1b[2Jb", "c\td"]]), [
    "NAME           B",
    "a\\n\\u{1b}[2Jb  c\\td",
    "",
  ]);
});

Deno.test("Only the headings are emphasized", () => {
  assertEquals(table(["A", "B"], [["aa", "b"]], (line) => `<${line}>`), "<A   B>\naa  b\n");
});

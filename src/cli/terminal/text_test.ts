import { assert, assertEquals } from "@std/assert";
import {
  type Cell,
  fitEnd,
  printable,
  printableJson,
  quoteWord,
  table,
  textWidth,
} from "./text.ts";

const PLAIN = ["", "a b", "Überholt – 日本語", "👩‍👩‍👧 🏳️‍🌈", "می‌خواهم", '"\\u{1b}"'];

const SHOWN: readonly [text: string, shown: string][] = [
  ["\x1b[31mred\x1b]0;title\x07", "\\u{1b}[31mred\\u{1b}]0;title\\u{7}"],
  ["one\ntwo\r\tthree", "one\\ntwo\\r\\tthree"],
  ["\0\b\x7f", "\\u{0}\\u{8}\\u{7f}"],
  // One character that some terminals read as ESC [.
  ["\x9b31m", "\\u{9b}31m"],
  ["a\u202egpj.exe\u2066\u200e", "a\\u{202e}gpj.exe\\u{2066}\\u{200e}"],
  ["a\u2028b\u2029c\ufeff\u{e0001}", "a\\u{2028}b\\u{2029}c\\u{feff}\\u{e0001}"],
  ["half \ud83d of a pair", "half \\u{d83d} of a pair"],
];

Deno.test("Text of any script is shown unchanged", () => {
  for (const text of PLAIN) assertEquals(printable(text), text);
});

Deno.test("Control characters are escaped", () => {
  for (const [text, shown] of SHOWN) assertEquals(printable(text), shown);
});

Deno.test("JSON has no control characters, and keeps its value", () => {
  for (const text of [...PLAIN, ...SHOWN.map(([text]) => text)]) {
    const json = printableJson({ text, [text]: [text, null, 1] });
    assertEquals(printable(json), json);
    assertEquals(JSON.parse(json), { text, [text]: [text, null, 1] });
  }
});

Deno.test("A word that may hold a secret is not repeated", () => {
  for (const word of ["my-project", "blog", "", "0123456789-0123456789"]) {
    assertEquals(quoteWord(word), `"${word}"`);
  }
  const secret = "0123456789abcdefghijAB";
  for (
    const word of [
      secret,
      `my-project_${secret}`,
      `abcdefgh.${secret}xyz`,
      "correct-horse-battery-staple",
    ]
  ) {
    assertEquals(quoteWord(word), '"…"');
  }
});

Deno.test("Wide characters and joined emoji take two columns", () => {
  const widths = ["", "abc", "日本", "e\u0301", "👩‍👩‍👧", "한글 x"].map(textWidth);
  assertEquals(widths, [0, 3, 4, 1, 2, 6]);
});

Deno.test("A text that is too wide keeps its end", () => {
  assertEquals(fitEnd("photos/cat.jpg", 14), "photos/cat.jpg");
  assertEquals(fitEnd("photos/cat.jpg", 8), "…cat.jpg");
  assertEquals(fitEnd("日本語", 4), "…語");
  assertEquals(fitEnd("abc", 1), "…");
  assertEquals(fitEnd("abc", 0), "");
  for (let columns = 0; columns < 12; columns++) {
    assert(textWidth(fitEnd("日a本👩‍👩‍👧b語", columns)) <= columns);
  }
});

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

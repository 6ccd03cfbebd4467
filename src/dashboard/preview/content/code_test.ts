import { assertEquals, assertLess } from "@std/assert";
import { type Block, languageOf, tokensOf } from "./code.ts";

/** The lines of a text with the kinds of their tokens: `if:word`. Parts without a color are left out. */
function colorsOf(label: string, text: string): string[] {
  const language = languageOf(label)!;
  let open: Block | undefined;
  return text.split("\n").map((line) => {
    const [tokens, left] = tokensOf(line, language, open);
    open = left;
    assertEquals(tokens.map(({ text }) => text).join(""), line);
    return tokens.filter(({ kind }) => kind !== "").map(({ kind, text }) => `${text}:${kind}`)
      .join(" ");
  });
}

Deno.test("Code has comments, strings, numbers and keywords, also over several lines", () => {
  assertEquals(
    colorsOf("a.ts", 'const a1 = "x\\"y" + 0x1f; // end\n/* one\ntwo */ return `a\nb\\`` + c;'),
    [
      'const:word "x\\"y":string 0x1f:number // end:comment',
      "/*:comment  one:comment",
      "two */:comment return:word `:string a:string",
      "b\\``:string",
    ],
  );
  assertEquals(colorsOf("a.py", "def f(x): # it's\n'''doc\nend''' 'a' $# 2"), [
    "def:word # it's:comment",
    "''':string doc:string",
    "end''':string 'a':string 2:number",
  ]);
  assertEquals(colorsOf("a.rs", "fn f<'a>(x: &'a str) { '\\n' }"), ["fn:word '\\n':string"]);
  assertEquals(colorsOf("a.sql", "SELECT a from t -- all"), [
    "SELECT:word from:word -- all:comment",
  ]);
  assertEquals(colorsOf("a.css", "a-1 { color: #fff /* x */ } @media"), [
    "/*:comment  x */:comment @media:word",
  ]);
});

Deno.test("Markup, settings and changes have colors of their own", () => {
  assertEquals(colorsOf("a.html", `<a href="x">it's "b"</a><!-- c\n--> d`), [
    `<a:word "x":string >:word </a:word >:word <!--:comment  c:comment`,
    "-->:comment",
  ]);
  assertEquals(colorsOf("a.yml", `- name: don't 5 # it's\n[part]\nurl: "a#b"`), [
    "- name:word 5:number # it's:comment",
    "[part]:word",
    'url:word "a#b":string',
  ]);
  assertEquals(colorsOf("a.diff", "--- a\n+++ b\n@@ 1 @@\n+new\n-old\n same"), [
    "--- a:comment",
    "+++ b:comment",
    "@@ 1 @@:word",
    "+new:string",
    "-old:removed",
    "",
  ]);
});

Deno.test("Texts that are no code have no colors", () => {
  assertEquals(["a.txt", "README", "a.csv", "a.log"].map(languageOf), [
    undefined,
    undefined,
    undefined,
    undefined,
  ]);
});

Deno.test("A hostile text takes no more time than its length", () => {
  const pieces = ["'", '"', "\\'", "- ", "-", " ", "`\\", "/*", "<!", '="', "#", "a:", "[", "1."];
  const extensions = "ts rs py lua sql css html yml diff".split(" ");
  const began = performance.now();
  for (const extension of extensions) {
    for (const piece of pieces) {
      const line = piece.repeat(2000 / piece.length);
      for (let i = 0; i < 4; i++) tokensOf(line, languageOf(`a.${extension}`)!, undefined);
    }
  }
  // About 500 lines of 1 MB in all. A time that grows with the square of the length would be minutes.
  assertLess(performance.now() - began, 20_000);
});

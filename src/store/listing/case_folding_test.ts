import { assert, assertEquals, assertNotEquals } from "@std/assert";
import { createHash } from "node:crypto";
import { foldCase, searchForm } from "./search.ts";

/**
 * The number of code points that Unicode 15.1 folds, and the SHA-256 of lines such as `df:73,73\n` for each of them, made
 * with Python 3.13, whose `str.casefold()` is the full case folding:
 *
 *     for c in range(0x110000):
 *         if 0xd800 <= c < 0xe000 or chr(c).casefold() == chr(c): continue
 *         folded = ",".join(format(ord(x), "x") for x in chr(c).casefold())
 *         sha256.update(f"{c:x}:{folded}\n".encode())
 */
const FOLDED = 1530;
const DIGEST = "1d4fac94d5be772dca0aa80fabd1b9aac1534348c4e9552e8d4f58e40546e2cd";

/** Capitals that later versions of Unicode added. */
const LATER =
  /[\u1c89\ua7cb-\ua7cf\ua7d2\ua7d4\ua7da\ua7dc\u{10d50}-\u{10d65}\u{16ea0}-\u{16eb8}]/u;

function* characters(): Generator<string> {
  for (let point = 0; point <= 0x10ffff; point++) {
    if (point < 0xd800 || point >= 0xe000) yield String.fromCodePoint(point);
  }
}

function hex(text: string): string {
  return [...text].map((character) => character.codePointAt(0)?.toString(16)).join();
}

const FOLDING = [...characters()].filter((character) => foldCase(character) !== character);

Deno.test("Every code point folds as Unicode 15.1 says", () => {
  const sha256 = createHash("sha256");
  let folded = 0;
  for (const character of FOLDING) {
    if (LATER.test(character)) continue;
    folded++;
    sha256.update(`${hex(character)}:${hex(foldCase(character))}\n`);
  }
  assertEquals(folded, FOLDED);
  assertEquals(sha256.digest("hex"), DIGEST);
});

Deno.test("A character folds alike beside any other, and what is folded stays as it is", () => {
  for (const character of FOLDING) {
    const folded = foldCase(character);
    assertEquals(foldCase(folded), folded);
    for (const other of ["a", "ı", "Σ", "ς", "\u0301", "\u0345", "Ꭰ", "İ", "\0", character]) {
      const expected = foldCase(other) + folded + foldCase(other);
      assertEquals(foldCase(other + character + other), expected, hex(character));
    }
  }
});

/** Texts that differ in case, or in their normal form. */
const ALIKE: readonly (readonly string[])[] = [
  ["invoice", "INVOICE", "Invoice"],
  ["straße", "STRASSE", "STRAẞE", "strasse"],
  ["σίσυφος", "ΣΊΣΥΦΟΣ", "σίσυφοσ"],
  ["é", "É", "e\u0301", "E\u0301"],
  ["i\u0307", "İ", "I\u0307"],
  ["ı"],
  ["i", "I"],
  ["ﬃ", "FFI", "ffi", "ﬀi"],
  ["Ꭰ", "ꭰ"],
  ["Ა", "ა"],
  ["ǰ", "J\u030c", "j\u030c"],
  ["ΐ", "Ϊ\u0301", "Ι\u0308\u0301", "\u1fd3", "ι\u0308\u0301"],
  ["ᾴ", "ΆΙ", "α\u0301\u0345", "άι"],
  ["K", "\u212a", "k"],
  ["Å", "\u212b", "a\u030a"],
  ["𐐀", "𐐨"],
  ["ſ", "S", "s"],
  ["한", "\u1112\u1161\u11ab"],
];

Deno.test("Texts have one search form if and only if they differ in case and normal form alone", () => {
  for (const [i, texts] of ALIKE.entries()) {
    const forms = new Set(texts.map(searchForm));
    assertEquals(forms.size, 1, texts.join());
    for (const [j, others] of ALIKE.entries()) {
      if (i !== j) { for (const other of others) assert(!forms.has(searchForm(other)), other); }
    }
  }
  assertNotEquals(searchForm("e"), searchForm("é"));
});

Deno.test("The case of a character does not matter for the search form", () => {
  const wrong = [...characters()].filter((character) => {
    const variants = [character.normalize("NFD"), foldCase(character)];
    // The capital of "ı" is another letter's.
    if (character !== "ı") variants.push(character.toUpperCase(), character.toLowerCase());
    const others = variants.filter((variant) => variant !== character);
    return others.some((other) => searchForm(other) !== searchForm(character));
  });
  assertEquals(wrong.map(hex), []);
});

Deno.test("The search form of texts in a row is that of each", () => {
  const texts = ALIKE.flat();
  assertEquals(searchForm(texts.join("\0")).split("\0"), texts.map(searchForm));
});

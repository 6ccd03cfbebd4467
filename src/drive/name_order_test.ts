import { assert, assertEquals } from "@std/assert";
import { MAX_NAME } from "./limits.ts";
import { afterPrefix, boundaryAfter, compareNames, nameAfter } from "./name_order.ts";
import { byteLength, fileNameProblem } from "./names.ts";

/** Characters at the edges of UTF-8's lengths and of UTF-16's pairs. */
const CHARACTERS = [
  "\u0001",
  " ",
  "/",
  "a",
  "\u007f",
  "\u0080",
  "\u07ff",
  "\u0800",
  "\ud7ff",
  "\ue000",
  "\ufffd",
  "\uffff",
  "\u{10000}",
  "\u{1f600}",
  "\u{10ffff}",
];

/** All texts of up to two of the characters, and some that begin alike. */
const TEXTS = [
  "",
  ...CHARACTERS,
  ...CHARACTERS.flatMap((a) => CHARACTERS.map((b) => a + b)),
  ...CHARACTERS.map((a) => `folder/\u{1f600}${a}x`),
];

const encoder = new TextEncoder();

/** The order that the store has: byte by byte. */
function compareBytes(a: string, b: string): number {
  const [x, y] = [encoder.encode(a), encoder.encode(b)];
  for (const [i, byte] of x.entries()) {
    const other = y[i];
    if (other === undefined) return 1;
    if (byte !== other) return byte - other;
  }
  return x.byteLength - y.byteLength;
}

function assertOrder(a: string, b: string): void {
  const found = Math.sign(compareNames(a, b));
  assertEquals(found, Math.sign(compareBytes(a, b)), `${JSON.stringify(a)}, ${JSON.stringify(b)}`);
}

Deno.test("Names are ordered by their UTF-8 bytes, not by their UTF-16 units", () => {
  for (const a of TEXTS) for (const b of TEXTS) assertOrder(a, b);
  assert("\u{1f600}" < "\ufffd", "JavaScript's own order differs");
  assert(compareNames("\u{1f600}", "\ufffd") > 0);
});

Deno.test("Random names are ordered by their UTF-8 bytes", () => {
  let seed = 1;
  const next = (below: number) => (seed = (seed * 48_271) % 2_147_483_647) % below;
  const random = () =>
    Array.from({ length: next(12) }, () => {
      const point = next(0x110000 - 0x800);
      return String.fromCodePoint(point < 0xd800 ? point : point + 0x800);
    }).join("");
  const names = Array.from({ length: 400 }, random);
  for (const [i, a] of names.entries()) assertOrder(a, names[(i * 7 + 1) % names.length] ?? "");
  assertEquals(names.toSorted(compareNames), names.toSorted(compareBytes));
});

Deno.test("Nothing lies between a name and the one after it", () => {
  for (const name of TEXTS) {
    const after = nameAfter(name);
    assert(compareNames(after, name) > 0);
    for (const other of TEXTS) {
      assertEquals(compareNames(other, name) > 0, compareNames(other, after) >= 0);
    }
  }
});

Deno.test("The end of a prefix is the smallest text behind all that begin with it", () => {
  const cases = [
    ["", undefined],
    ["a", "b"],
    ["folder/", "folder0"],
    ["a\u007f", "a\u0080"],
    ["a\ud7ff", "a\ue000"],
    ["\uffff", "\u{10000}"],
    ["a\u{1f600}", "a\u{1f601}"],
    ["a\u{10ffff}", "b"],
    ["a\ud7ff\u{10ffff}\u{10ffff}", "a\ue000"],
    ["\u{10ffff}", undefined],
    ["\u{10ffff}\u{10ffff}", undefined],
  ] as const;
  for (const [prefix, end] of cases) {
    assertEquals(afterPrefix(prefix), end, JSON.stringify(prefix));
  }
});

Deno.test("A name begins with a prefix exactly if it lies between the prefix and its end", () => {
  for (const prefix of TEXTS) {
    const end = afterPrefix(prefix);
    for (const name of TEXTS) {
      const between = compareNames(name, prefix) >= 0 &&
        (end === undefined || compareNames(name, end) < 0);
      assertEquals(between, name.startsWith(prefix), JSON.stringify([prefix, name]));
    }
  }
});

Deno.test("A boundary divides the names as the text does, and fits into a key", () => {
  const long = "a".repeat(MAX_NAME - 1);
  const texts = [
    ...TEXTS,
    "\0",
    "a\0",
    "a\0b",
    "\0a",
    long,
    `${long}b`,
    `${long}bc`,
    `${long}b\0c`,
    `${long}\u{1f600}b`,
    "a".repeat(5000),
    "\u{1f600}".repeat(5000),
  ];
  const names = [...TEXTS, long, `${long}a`, `${long}b`, `${long}c`, "\u{1f600}".repeat(256)]
    .filter((name) => fileNameProblem(name) === undefined);
  for (const text of texts) {
    const boundary = boundaryAfter(text);
    assert(byteLength(boundary) <= MAX_NAME + 5);
    for (const name of names) {
      const about = JSON.stringify([text.slice(-9), name.slice(-9)]);
      assertEquals(compareBytes(name, boundary) >= 0, compareBytes(name, text) > 0, about);
    }
  }
});

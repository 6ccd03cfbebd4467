import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import {
  afterPrefix,
  appNameProblem,
  boundaryAfter,
  byteLength,
  compareNames,
  descriptionProblem,
  driveNameProblem,
  fileNameProblem,
  folderNameProblem,
  isProjectId,
  keyNameProblem,
  MAX_DRIVE_NAME,
  MAX_FILE_NAME,
  nameAfter,
} from "./names.ts";

/** A name, and a part of its problem; `undefined` for a valid name. */
type Case = readonly [name: string, problem: string | undefined];

function assertProblems(
  problemOf: (name: string) => string | undefined,
  cases: readonly Case[],
): void {
  for (const [name, wanted] of cases) {
    const problem = problemOf(name);
    const about = JSON.stringify(name.slice(0, 40));
    if (wanted === undefined) assertEquals(problem, undefined, about);
    else assertStringIncludes(problem ?? "nothing", wanted, about);
  }
}

Deno.test("The byte length counts UTF-8 bytes", () => {
  const cases = [["", 0], ["a", 1], ["ü", 2], ["€", 3], ["😀", 4], ["e\u0301", 3]] as const;
  for (const [text, length] of cases) assertEquals(byteLength(text), length, text);
});

Deno.test("A file name has 1 to 1024 bytes of UTF-8", () => {
  assertProblems(fileNameProblem, [
    ["", "is empty"],
    ["a", undefined],
    ["a".repeat(MAX_FILE_NAME), undefined],
    ["a".repeat(MAX_FILE_NAME + 1), "has 1025 bytes"],
    ["ü".repeat(512), undefined],
    ["ü".repeat(512) + "a", "has 1025 bytes"],
    ["€".repeat(341) + "a", undefined],
    ["€".repeat(341) + "ü", "has 1025 bytes"],
    ["😀".repeat(256), undefined],
    ["😀".repeat(257), "has 1028 bytes"],
  ]);
});

Deno.test("A file name has a character other than white space", () => {
  for (const blank of [" ", "\t", "\n", " \r\n\t ", "\u0085", "\u00a0", "\u2003", "\u3000"]) {
    assertProblems(fileNameProblem, [[blank, "is blank"], [`${blank}a${blank}`, undefined]]);
  }
  // Unicode does not count it among white space.
  assertProblems(fileNameProblem, [["\ufeff", undefined]]);
});

Deno.test("A file name has no NUL, no trailing slash and no lone surrogate", () => {
  assertProblems(fileNameProblem, [
    ["/", 'ends with "/"'],
    ["a/", 'ends with "/"'],
    ["a//", 'ends with "/"'],
    ["\0", "NUL"],
    ["a\0b", "NUL"],
    ["\ud83d", "surrogate"],
    ["a\ude00b", "surrogate"],
    ["\ude00\ud83d", "surrogate"],
  ]);
});

Deno.test("A folder name is that of a file with a slash at its end", () => {
  assertProblems(folderNameProblem, [
    ["a/", undefined],
    ["a/b//", undefined],
    ["../", undefined],
    ["", 'does not end with "/"'],
    ["a", 'does not end with "/"'],
    ["/", "is blank"],
    [" \t/", "is blank"],
    ["a\0/", "NUL"],
    ["\ud83d/", "surrogate"],
    [`${"ü".repeat(511)}a/`, undefined],
    [`${"ü".repeat(512)}/`, "has 1025 bytes"],
  ]);
});

Deno.test("Any other text is a valid file name", () => {
  const names = [
    ..."/a a//b . .. ../../etc/passwd a\\b a?b a#b a%2Fb %00 a&b=c a+b constructor __proto__".split(
      " ",
    ),
    " a ",
    "a\nb",
    "\u0001",
    "\u007f",
    "😀",
    "e\u0301",
    "\u00e9",
    "\ufffd",
    "\ufeffa",
    "\u202ea",
    "\u{10ffff}",
  ];
  assertProblems(fileNameProblem, names.map((name) => [name, undefined]));
});

Deno.test("A drive name has 1 to 128 bytes, no slash, no control character and is not blank", () => {
  assertProblems(driveNameProblem, [
    ["a", undefined],
    ["photos 2024", undefined],
    ["a".repeat(MAX_DRIVE_NAME), undefined],
    ["a".repeat(MAX_DRIVE_NAME + 1), "has 129 bytes"],
    ["ü".repeat(64), undefined],
    ["ü".repeat(64) + "a", "has 129 bytes"],
    ["😀".repeat(32), undefined],
    ["😀".repeat(33), "has 132 bytes"],
    ["", "is blank"],
    [" \t", "is blank"],
    ["/", 'has a "/"'],
    ["a/b", 'has a "/"'],
    ["a\0b", "control character"],
    ["a\nb", "control character"],
    ["a\u007f", "control character"],
    ["a\u0085", "control character"],
    ["a\ud83d", "surrogate"],
    ["..", undefined],
    ["%2F", undefined],
    ["__proto__", undefined],
  ]);
});

Deno.test("A project's id is 1 to 64 ASCII letters, digits and hyphens", () => {
  for (const id of ["a", "Z", "0", "-", "a-B-9", "x".repeat(64)]) assert(isProjectId(id), id);
  for (const id of ["", "x".repeat(65), "a_b", "a b", "a.b", "a/b", "ä", "a\n", "\na", "a\0"]) {
    assert(!isProjectId(id), JSON.stringify(id));
  }
});

type Check = (text: string) => string | undefined;

function assertValid(check: Check, texts: readonly string[]): void {
  for (const text of texts) assertEquals(check(text), undefined, JSON.stringify(text));
}

/** Every problem is the end of a sentence, without a period. */
function assertInvalid(check: Check, texts: readonly string[]): void {
  for (const text of texts) {
    const problem = check(text);
    assert(problem !== undefined && /^[a-z].*[^.]$/.test(problem), JSON.stringify([text, problem]));
  }
}

Deno.test("An application's name is a plain path segment", () => {
  assertValid(appNameProblem, ["a", "0", "My-App_1.2", "x".repeat(64), "a..b"]);
  assertInvalid(appNameProblem, [
    "",
    ".",
    "..",
    ".a",
    "-a",
    "_a",
    "a/b",
    "a b",
    "a%2f",
    "ä",
    "a\n",
  ]);
  assertInvalid(appNameProblem, ["x".repeat(65), "a\0", "a?", "a#", "a:b", "__proto__"]);
});

Deno.test("A key's name is one line of text", () => {
  assertValid(keyNameProblem, ["a", "Büro 3", "😀".repeat(128), "x".repeat(128), " a "]);
  assertInvalid(keyNameProblem, ["", " ", "\u3000", "a\nb", "a\0", "a\x7f", "a\x85", "\ud800"]);
  assertInvalid(keyNameProblem, ["x".repeat(129), "😀".repeat(129)]);
});

Deno.test("A description may be empty and have several lines", () => {
  assertValid(descriptionProblem, ["", "a\nb\n", "😀".repeat(1024)]);
  assertInvalid(descriptionProblem, ["a\rb", "a\tb", "\0", "\x9f", "\udc00", "x".repeat(1025)]);
});

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

/** The order of the store: byte by byte. */
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

Deno.test("No string sorts between a name and the next one", () => {
  for (const name of TEXTS) {
    const after = nameAfter(name);
    assert(compareNames(after, name) > 0);
    for (const other of TEXTS) {
      assertEquals(compareNames(other, name) > 0, compareNames(other, after) >= 0);
    }
  }
});

Deno.test("The end of a prefix is the smallest string after all that begin with it", () => {
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

Deno.test("A name begins with a prefix exactly if it sorts between the prefix and its end", () => {
  for (const prefix of TEXTS) {
    const end = afterPrefix(prefix);
    for (const name of TEXTS) {
      const between = compareNames(name, prefix) >= 0 &&
        (end === undefined || compareNames(name, end) < 0);
      assertEquals(between, name.startsWith(prefix), JSON.stringify([prefix, name]));
    }
  }
});

Deno.test("A boundary divides names as its text does, and fits into a key", () => {
  const long = "a".repeat(MAX_FILE_NAME - 1);
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
    assert(byteLength(boundary) <= MAX_FILE_NAME + 5);
    for (const name of names) {
      const about = JSON.stringify([text.slice(-9), name.slice(-9)]);
      assertEquals(compareBytes(name, boundary) >= 0, compareBytes(name, text) > 0, about);
    }
  }
});

import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { MAX_DRIVE_NAME, MAX_NAME } from "./limits.ts";
import { byteLength, driveNameProblem, fileNameProblem, isProjectId } from "./names.ts";

/** A name, and a word of what is wrong with it; `undefined` where nothing is. */
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

Deno.test("A length is that of the UTF-8 bytes", () => {
  const cases = [["", 0], ["a", 1], ["ü", 2], ["€", 3], ["😀", 4], ["e\u0301", 3]] as const;
  for (const [text, length] of cases) assertEquals(byteLength(text), length, text);
});

Deno.test("A file name has 1 to 1024 bytes of UTF-8, whatever its characters", () => {
  assertProblems(fileNameProblem, [
    ["", "is empty"],
    ["a", undefined],
    ["a".repeat(MAX_NAME), undefined],
    ["a".repeat(MAX_NAME + 1), "has 1025 bytes"],
    ["ü".repeat(512), undefined],
    ["ü".repeat(512) + "a", "has 1025 bytes"],
    ["€".repeat(341) + "a", undefined],
    ["€".repeat(341) + "ü", "has 1025 bytes"],
    ["😀".repeat(256), undefined],
    ["😀".repeat(257), "has 1028 bytes"],
  ]);
});

Deno.test("A file name has a character other than white space", () => {
  for (const blank of [" ", "\t", "\n", " \r\n\t ", "\u00a0", "\u2003", "\u3000"]) {
    assertProblems(fileNameProblem, [[blank, "is blank"], [`${blank}a${blank}`, undefined]]);
  }
});

Deno.test("A file name has no NUL, no slash at its end, and no half of a surrogate pair", () => {
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

Deno.test("Everything else is a file name as it stands", () => {
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

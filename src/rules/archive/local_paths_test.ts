import { assert, assertEquals } from "@std/assert";
import { byteLength } from "../names.ts";
import { localNameProblem, LocalPaths, safeSegment } from "./local_paths.ts";

Deno.test("Ordinary names are used unchanged as paths", () => {
  const paths = new LocalPaths("posix");
  const names = [
    "a.txt",
    "b/c d/é.jpg",
    "b/c d/e",
    "100%",
    "what?",
    "日本/語",
    "a b ",
    "...",
    "CON",
  ];
  assertEquals(names.map((name) => paths.pathFor(name)), names);
});

Deno.test("Characters and segments that no file system allows are escaped", () => {
  const cases: [name: string, path: string][] = [
    ["/etc/passwd", "%/etc/passwd"],
    ["../x", "%2E%2E/x"],
    ["a//b/./c", "a/%/b/%2E/c"],
    ["line\none", "line%0Aone"],
    ["\x1b]0;x\x07", "%1B]0;x%07"],
    [`a/.kvdrive-${"0".repeat(32)}.part`, `a/%2Ekvdrive-${"0".repeat(32)}.part`],
  ];
  for (const [name, path] of cases) assertEquals(new LocalPaths("posix").pathFor(name), path);
});

Deno.test("A backslash is kept where it is no slash", () => {
  const paths = (["posix", "portable", "windows"] as const).map((system) =>
    safeSegment("a\\b", system)
  );
  assertEquals(paths, ["a\\b", "a%5Cb", "a%5Cb"]);
});

Deno.test("Names that only Windows forbids are escaped for Windows", () => {
  const cases = [
    ["CON", "%43ON"],
    ["nul.txt", "%6Eul.txt"],
    ["a:b?", "a%3Ab%3F"],
    ["end.", "end%2E"],
    ["end ", "end%20"],
    ["console", "console"],
  ] as const;
  for (const [segment, safe] of cases) assertEquals(safeSegment(segment, "windows"), safe);
});

Deno.test("Names that differ only by case or normalization get different paths", () => {
  const paths = new LocalPaths("posix");
  const names = ["README", "Readme", "caf\u00e9", "cafe\u0301", "a", "a.txt", "a/b", "A/c"];
  const assigned = names.map((name) => paths.pathFor(name));
  assertEquals(assigned, [
    "README",
    "Readme%1",
    "caf\u00e9",
    "cafe\u0301%1",
    "a",
    "a.txt",
    "a%1/b",
    "A%2/c",
  ]);
});

Deno.test("The number of a path that was taken stands before the extension", () => {
  const paths = new LocalPaths("posix");
  const names = ["a.JPG", "A.jpg", "a.jpg", ".env", ".ENV", "a.b/c", "A.b/c", "A.b/d", "a.b/C"];
  assertEquals(names.map((name) => paths.pathFor(name)), [
    "a.JPG",
    "A%1.jpg",
    "a%2.jpg",
    ".env",
    ".ENV%1",
    "a.b/c",
    "A%1.b/c",
    "A%1.b/d",
    "a.b/C%1",
  ]);
});

Deno.test("Many names that differ only by case take linear time", () => {
  const paths = new LocalPaths("posix");
  const letters = [..."abcdefghijklmno"];
  const assigned = new Set<string>();
  for (let bits = 0; bits < 2 ** letters.length; bits++) {
    const cased = letters.map((letter, i) => bits & 1 << i ? letter.toUpperCase() : letter);
    assigned.add(paths.pathFor(cased.join("")).toLowerCase());
  }
  assertEquals(assigned.size, 2 ** letters.length);
});

Deno.test("A reserved path is not assigned to another name", () => {
  const paths = new LocalPaths("posix");
  paths.reserve("x/y");
  assertEquals([paths.pathFor("x"), paths.pathFor("x/y"), paths.pathFor("x/z")], [
    "x%1",
    "x/y%1",
    "x/z",
  ]);
});

/** Pseudo-random numbers, the same in every run. */
function* numbers(): Generator<number, never> {
  let state = 1;
  for (;;) {
    state = Math.imul(state ^ (state >>> 15), 0x2c1b3c6d) + 0x9e3779b9 | 0;
    yield (state >>> 8) / 2 ** 24;
  }
}

Deno.test("Random names yield distinct paths that stay inside the folder and fit a file system", () => {
  const random = numbers();
  const letters = [..."aAéE\u0301.%/\\\0\n ß:*日🦖", "..", "//", "long".repeat(70), "CON"];
  const names = new Set<string>();
  while (names.size < 3000) {
    const length = 1 + Math.floor(random.next().value * 6);
    const pick = () => letters[Math.floor(random.next().value * letters.length)] ?? "";
    names.add(Array.from({ length }, pick).join(""));
  }
  for (const system of ["posix", "portable", "windows"] as const) {
    const forbidden = system === "posix" ? /\p{Cc}/u : /[\p{Cc}\\]/u;
    const paths = new LocalPaths(system);
    const files = new Set<string>();
    const folders = new Set<string>();
    for (const name of names) {
      const path = paths.pathFor(name);
      const segments = path.split("/");
      for (const segment of segments) {
        assert(!["", ".", ".."].includes(segment), path);
        assert(!forbidden.test(segment) && byteLength(segment) <= 255, path);
      }
      const same = path.normalize("NFC").toLowerCase();
      assert(!files.has(same), path);
      files.add(same);
      for (let count = 1; count < segments.length; count++) {
        folders.add(segments.slice(0, count).join("/").normalize("NFC").toLowerCase());
      }
    }
    for (const file of files) assert(!folders.has(file), file);
  }
});

Deno.test("Each folder has a path of its own, in which the files below it lie", () => {
  const cases: [name: string, path: string][] = [
    ["trip", "trip"],
    ["a/b/file", "a/b/file"],
    ["a/b/", "a/b/"],
    ["a/", "a/"],
    ["A/b/", "A%1/b/"],
    ["A/b/file", "A%1/b/file"],
    ["trip/2026/", "trip%1/2026/"],
    ["trip/2026/map", "trip%1/2026/map"],
    ["a//", "a/%/"],
    ["a/%/", "a/%%1/"],
    ["../../", "%2E%2E/%2E%2E/"],
    ["%2E%2E/%2E%2E/", "%2E%2E/%2E%2E%1/"],
  ];
  const paths = new LocalPaths("posix");
  const of = (name: string) => name.endsWith("/") ? paths.folderFor(name) : paths.pathFor(name);
  for (const [name, path] of cases) assertEquals(of(name), path);
  assert(/^x{207}%[0-9a-f]{32}\/$/.test(paths.folderFor(`${"x".repeat(300)}/`)));
  const later = new LocalPaths("posix");
  later.reserve("a/%/");
  assertEquals(later.folderFor("a/%/"), "a/%%1/");
  assertEquals(later.pathFor("a/b"), "a/b");
  assertEquals(later.folderFor("a/"), "a/");
});

Deno.test("Names that a file system can hold have no problem", () => {
  for (const name of ["a", "a/b/c", "a\\b", "..a", "a..", "é😀", "l".repeat(255), "a/b/"]) {
    assertEquals(localNameProblem(name, "posix"), undefined);
  }
  for (const name of ["a", "a/b", "..a", "é😀"]) {
    assertEquals(localNameProblem(name, "windows"), undefined);
  }
});

Deno.test("Names that lead out of a folder, or that no file system can hold, have one", () => {
  const names = [
    "a\nb",
    "\x1b]0;x\x07",
    "a/\x9b31m",
    `.kvdrive-${"0".repeat(32)}.part`,
    "..",
    "../a",
    "a/../b",
    ".",
    "./a",
    "a/./b",
    "/a",
    "a//b",
    "a//",
    "é".repeat(128),
  ];
  for (const name of names) {
    for (const system of ["posix", "windows"] as const) {
      assertEquals(typeof localNameProblem(name, system), "string", `${system} ${name}`);
    }
  }
});

Deno.test("Windows holds fewer names", () => {
  for (const name of ["a:b", "a?", "con", "nul.txt", "a.", "a /b", "a\\..\\b"]) {
    assertEquals(localNameProblem(name, "windows"), "Windows cannot hold this name", name);
  }
});

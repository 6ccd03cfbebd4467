import { assert, assertEquals } from "@std/assert";
import { byteLength } from "../rules/names.ts";
import { LocalPaths, safeSegment } from "./local_paths.ts";

Deno.test("Plain names are paths as they are", () => {
  const plan = new LocalPaths("posix");
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
  assertEquals(names.map((name) => plan.pathFor(name)), names);
});

Deno.test("What no file system can hold is written in another way", () => {
  const cases: [name: string, path: string][] = [
    ["/etc/passwd", "%/etc/passwd"],
    ["../x", "%2E%2E/x"],
    ["a//b/./c", "a/%/b/%2E/c"],
    ["line\none", "line%0Aone"],
    ["c:\\temp", "c:%5Ctemp"],
  ];
  for (const [name, path] of cases) assertEquals(new LocalPaths("posix").pathFor(name), path);
});

Deno.test("Windows holds less", () => {
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

Deno.test("Names that would be one file get two", () => {
  const plan = new LocalPaths("posix");
  const names = ["README", "Readme", "caf\u00e9", "cafe\u0301", "a", "a.txt", "a/b", "A/c"];
  const paths = names.map((name) => plan.pathFor(name));
  assertEquals(paths, [
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

Deno.test("A path that was taken before stays taken", () => {
  const plan = new LocalPaths("posix");
  plan.reserve("x/y");
  assertEquals([plan.pathFor("x"), plan.pathFor("x/y"), plan.pathFor("x/z")], [
    "x%1",
    "x/y%1",
    "x/z",
  ]);
});

/** The same numbers in every run. */
function* numbers(): Generator<number, never> {
  let state = 1;
  for (;;) {
    state = Math.imul(state ^ (state >>> 15), 0x2c1b3c6d) + 0x9e3779b9 | 0;
    yield (state >>> 8) / 2 ** 24;
  }
}

Deno.test("Whatever the names, no path leaves the folder, is too long, or is another's file or folder", () => {
  const random = numbers();
  const letters = [..."aAéE\u0301.%/\\\0\n ß:*日🦖", "..", "//", "long".repeat(70), "CON"];
  const names = new Set<string>();
  while (names.size < 3000) {
    const length = 1 + Math.floor(random.next().value * 6);
    const pick = () => letters[Math.floor(random.next().value * letters.length)] ?? "";
    names.add(Array.from({ length }, pick).join(""));
  }
  for (const system of ["posix", "windows"] as const) {
    const plan = new LocalPaths(system);
    const files = new Set<string>();
    const folders = new Set<string>();
    for (const name of names) {
      const path = plan.pathFor(name);
      const segments = path.split("/");
      for (const segment of segments) {
        assert(!["", ".", ".."].includes(segment), path);
        assert(!/[\p{Cc}\\]/u.test(segment) && byteLength(segment) <= 255, path);
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

import { assertEquals } from "@std/assert";
import { asFolder, baseName, parentOf, saveName, shownName, trail } from "./names.js";

Deno.test("Names are cut at their slashes, odd ones too", () => {
  const cases = [
    ["a.txt", "a.txt", ""],
    ["a/b.txt", "b.txt", "a/"],
    ["a/b/", "b", "a/"],
    ["a/", "a", ""],
    ["/", "", ""],
    ["//", "", "/"],
    ["/a", "a", "/"],
    ["a//b", "b", "a//"],
    ["", "", ""],
  ] as const;
  for (const [name, base, parent] of cases) {
    assertEquals([name, baseName(name), parentOf(name)], [name, base, parent]);
  }
});

Deno.test("The way to a folder has every folder on it, those without a name too", () => {
  assertEquals(trail("a/b/c/"), ["a/", "a/b/", "a/b/c/"]);
  assertEquals(trail("//a/"), ["/", "//", "//a/"]);
  assertEquals(trail(""), []);
  assertEquals([asFolder("a"), asFolder("a/"), asFolder("")], ["a/", "a/", ""]);
});

Deno.test("A list shows something of every name", () => {
  assertEquals(shownName("a/b/", "a/"), "b");
  assertEquals(shownName("a//", "a/"), "(no name)");
  assertEquals(shownName("a/b", ""), "a/b");
});

Deno.test("A file is saved under a name that is no path", () => {
  assertEquals(["a/b.txt", "..", "a/.", "a/..", "x"].map(saveName), [
    "b.txt",
    "download",
    "download",
    "download",
    "x",
  ]);
});

import { assertEquals } from "@std/assert";
import { ancestors, asFolder, baseName, displayName, parentOf, saveName } from "./names.js";

Deno.test("Names are split at slashes, including empty segments", () => {
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

Deno.test("The ancestors of a folder include folders with empty names", () => {
  assertEquals(ancestors("a/b/c/"), ["a/", "a/b/", "a/b/c/"]);
  assertEquals(ancestors("//a/"), ["/", "//", "//a/"]);
  assertEquals(ancestors(""), []);
  assertEquals([asFolder("a"), asFolder("a/"), asFolder("")], ["a/", "a/", ""]);
});

Deno.test("A list shows a text for every name", () => {
  assertEquals(displayName("a/b/", "a/"), "b");
  assertEquals(displayName("a//", "a/"), "(no name)");
  assertEquals(displayName("a/b", ""), "a/b");
});

Deno.test("A file is saved under a name without path separators", () => {
  assertEquals(["a/b.txt", "..", "a/.", "a/..", "x"].map(saveName), [
    "b.txt",
    "download",
    "download",
    "download",
    "x",
  ]);
});

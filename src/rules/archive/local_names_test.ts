import { assertEquals } from "@std/assert";
import { localNameProblem } from "./local_names.ts";

Deno.test("Names that a file system can hold have no problem", () => {
  for (const name of ["a", "a/b/c", "a\\b", "a\nb", "..a", "a..", "é😀", "l".repeat(255), "a/b/"]) {
    assertEquals(localNameProblem(name, "posix"), undefined);
  }
  for (const name of ["a", "a/b", "..a", "é😀"]) {
    assertEquals(localNameProblem(name, "windows"), undefined);
  }
});

Deno.test("Names that lead out of a folder, or that no file system can hold, have one", () => {
  const names = ["..", "../a", "a/../b", ".", "./a", "a/./b", "/a", "a//b", "a//", "é".repeat(128)];
  for (const name of names) {
    for (const system of ["posix", "windows"] as const) {
      assertEquals(typeof localNameProblem(name, system), "string", `${system} ${name}`);
    }
  }
});

Deno.test("Windows holds fewer names", () => {
  for (const name of ["a:b", "a?", "con", "nul.txt", "a.", "a /b", "a\\..\\b", "x\n"]) {
    assertEquals(localNameProblem(name, "windows"), "Windows cannot hold this name", name);
  }
});

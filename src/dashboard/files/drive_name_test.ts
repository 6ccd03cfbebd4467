import { assertEquals } from "@std/assert";
import { driveNameProblem } from "./drive_name.js";

Deno.test("A drive name is refused if the server would refuse it or no URL can address it", () => {
  for (const name of ["photos", " a ", "ä😀", "a.b", "...", "x".repeat(128)]) {
    assertEquals(driveNameProblem(name), undefined);
  }
  for (const name of ["", "  ", "a/b", "a\nb", "\x7f", "\x85", ".", "..", "ä".repeat(65)]) {
    assertEquals(typeof driveNameProblem(name), "string");
  }
});

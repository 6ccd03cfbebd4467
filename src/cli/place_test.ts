import { assertEquals, assertThrows } from "@std/assert";
import { parsePlace } from "./place.ts";
import { UsageError } from "./usage_error.ts";

Deno.test("The first colon ends the drive, and everything behind it is the name", () => {
  const places: [text: string, drive: string, name: string][] = [
    ["photos:cat.jpg", "photos", "cat.jpg"],
    ["photos:", "photos", ""],
    ["photos:pets/", "photos", "pets/"],
    ["d:/etc/passwd", "d", "/etc/passwd"],
    ["d://x", "d", "//x"],
    ["d:..", "d", ".."],
    ["d:a:b", "d", "a:b"],
  ];
  for (const [text, drive, name] of places) {
    assertEquals(parsePlace(text, undefined), { drive, name });
  }
  assertEquals(parsePlace("n:m", "a:b"), { drive: "a:b", name: "n:m" });
});

Deno.test("What names no place is refused", () => {
  for (const text of ["photos", "", ":a", " :a", "a/b:c", `d:${"x".repeat(1025)}`, "d: "]) {
    assertThrows(() => parsePlace(text, undefined), UsageError);
  }
  assertThrows(() => parsePlace("a", "b/c"), UsageError);
});

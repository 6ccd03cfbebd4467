import { assertEquals } from "@std/assert";
import { folderOf, labelOf } from "./entry.ts";

Deno.test("A name has a folder and a label", () => {
  const cases: [name: string, folder: string, label: string][] = [
    ["a.jpg", "", "a.jpg"],
    ["trip/a.jpg", "trip/", "a.jpg"],
    ["trip/2026/", "trip/", "2026"],
    ["trip/", "", "trip"],
    ["/", "", ""],
    ["a//b", "a//", "b"],
  ];
  for (const [name, folder, label] of cases) {
    assertEquals([folderOf({ name }), labelOf({ name })], [folder, label], name);
  }
});

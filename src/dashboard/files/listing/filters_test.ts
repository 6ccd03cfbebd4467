import { assertEquals } from "@std/assert";
import type { Entry } from "../entry.ts";
import { filterEntries, type Filters } from "./filters.ts";

const NOW = Date.parse("2026-11-22T12:00:00Z");
const ENTRIES: Entry[] = [
  { kind: "folder", name: "trip/" },
  { kind: "file", name: "a.jpg", size: 2e6, modified: "2026-11-22T09:00:00Z" },
  { kind: "file", name: "b.pdf", size: 10, modified: "2026-11-02T09:00:00Z" },
  { kind: "file", name: "c.mov", size: 5e9, modified: "2024-11-02T09:00:00Z" },
];

function names(filters: Filters): string {
  return filterEntries(ENTRIES, filters, NOW).map(({ name }) => name).join(" ");
}

Deno.test("Without a filter everything is listed", () => {
  assertEquals(names({}), "trip/ a.jpg b.pdf c.mov");
});

Deno.test("Filters narrow by kind, size and age, and together", () => {
  assertEquals(names({ kind: "image" }), "a.jpg");
  assertEquals(names({ kind: "folder" }), "trip/");
  assertEquals(names({ size: 1e6 }), "a.jpg c.mov");
  assertEquals(names({ age: 1 }), "a.jpg");
  assertEquals(names({ age: 30 }), "a.jpg b.pdf");
  assertEquals(names({ age: -365 }), "c.mov");
  assertEquals(names({ size: 1e6, age: 30 }), "a.jpg");
  assertEquals(names({ kind: "video", age: 30 }), "");
});

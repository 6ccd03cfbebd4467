import { assertEquals, assertLess } from "@std/assert";
import type { Entry } from "../entry.ts";
import { compareEntries, merge, type Sort, sortEntries } from "./order.ts";

function entryOf(name: string, details: Partial<Entry> = {}): Entry {
  return { kind: name.endsWith("/") ? "folder" : "file", name, ...details };
}

function sorted(...names: string[]): string[] {
  return merge([], names.map((name) => entryOf(name))).map(({ name }) => name);
}

Deno.test("Numbers in names are compared as numbers, and case does not matter", () => {
  assertEquals(sorted("img10.png", "IMG2.png", "img1.png", "Zoo", "apple", "img02.png"), [
    "apple",
    "img1.png",
    "IMG2.png",
    "img02.png",
    "img10.png",
    "Zoo",
  ]);
});

Deno.test("Folders come first, and a name before longer ones that begin with it", () => {
  assertEquals(sorted("b", "a b/", "a", "a/", "a.txt"), ["a/", "a b/", "a", "a.txt", "b"]);
});

Deno.test("Pages that arrive in the order of the server are merged into the natural one", () => {
  const names = Array.from({ length: 3000 }, (_, index) => `${index % 7 ? "f" : "F"}${index}`);
  const entries = names.toSorted().map((name) => entryOf(name));
  let list: Entry[] = [];
  for (let at = 0; at < entries.length; at += 1000) {
    list = merge(list, entries.slice(at, at + 1000));
  }
  assertEquals(list, entries.toSorted(compareEntries));
  assertEquals(list.at(10)?.name, "f10");
});

Deno.test("A list is sorted by any column, folders first", () => {
  const list = merge([], [
    entryOf("z/"),
    entryOf("a/"),
    entryOf("c.txt", { size: 3, modified: "2026-01-03T00:00:00Z" }),
    entryOf("b.jpg", { size: 9, modified: "2026-01-01T00:00:00Z" }),
    entryOf("d.pdf", { size: 3, modified: "2026-01-02T00:00:00Z" }),
  ]);
  const names = (sort: Sort) => sortEntries(list, sort).map(({ name }) => name).join(" ");
  assertEquals(names({ column: "name", isDescending: false }), "a/ z/ b.jpg c.txt d.pdf");
  assertEquals(names({ column: "name", isDescending: true }), "z/ a/ d.pdf c.txt b.jpg");
  assertEquals(names({ column: "size", isDescending: false }), "a/ z/ c.txt d.pdf b.jpg");
  assertEquals(names({ column: "size", isDescending: true }), "a/ z/ b.jpg c.txt d.pdf");
  assertEquals(names({ column: "modified", isDescending: false }), "a/ z/ b.jpg d.pdf c.txt");
  assertEquals(names({ column: "type", isDescending: false }), "a/ z/ b.jpg d.pdf c.txt");
});

Deno.test("A few entries are merged quickly into a long list", () => {
  const list = merge(
    [],
    Array.from({ length: 100_000 }, (_, index) => entryOf(`f-${1e6 + index}`)),
  );
  const start = performance.now();
  merge(list, [entryOf("f-2000000"), entryOf("a")]);
  assertLess(performance.now() - start, 500);
});

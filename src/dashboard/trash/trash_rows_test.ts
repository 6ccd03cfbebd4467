import { assertEquals } from "@std/assert";
import { foldersOf, rowsOf, togetherWith, type TrashItem } from "./trash_rows.ts";

const NOON = Date.parse("2026-11-22T12:00:00Z");

let next = 0;

function item(name: string, secondsAgo = 0, reason: TrashItem["reason"] = "deleted"): TrashItem {
  const deleted = new Date(NOON - secondsAgo * 1000).toISOString();
  return {
    id: `${next++}`,
    name,
    size: 1,
    content_type: "text/plain",
    deleted,
    expires: deleted,
    reason,
  };
}

Deno.test("The files of a folder that is gone are one row, others have rows of their own", () => {
  const items = [
    item("a.txt"),
    item("trip/1.jpg", 10),
    item("trip/day/2.jpg", 11),
    item("trip/old.jpg", 12, "replaced"),
    item("kept/1.jpg", 13),
    item("kept/2.jpg", 14),
    item("one/only.txt", 15),
    // A day before, when the folder was there.
    item("trip/0.jpg", 86_400),
  ];
  assertEquals(foldersOf(items), ["trip/", "kept/"]);
  const rows = rowsOf([{ drive: "d", items, last: undefined, gone: new Set(["trip/"]) }]);
  assertEquals(rows.map(({ name, items }) => [name, items.length]), [
    ["a.txt", 1],
    ["trip/", 2],
    ["trip/old.jpg", 1],
    ["kept/1.jpg", 1],
    ["kept/2.jpg", 1],
    ["one/only.txt", 1],
    ["trip/0.jpg", 1],
  ]);
  const below = items.filter(({ name }) => name.startsWith("trip/"));
  assertEquals(togetherWith(rows[1]!, below).length, 2);
});

Deno.test("The rows of several drives are sorted together", () => {
  const part = (drive: string, ...items: TrashItem[]) => ({
    drive,
    items,
    last: undefined,
    gone: new Set<string>(),
  });
  const rows = rowsOf([part("x", item("1", 5), item("2", 50)), part("y", item("3", 20))]);
  assertEquals(rows.map(({ name }) => name), ["1", "3", "2"]);
});

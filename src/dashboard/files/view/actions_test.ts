import { assertEquals } from "@std/assert";
import type { Permission } from "../../core/session.ts";
import type { Entry } from "../entry.ts";
import { itemsOf, SHORTCUTS } from "./actions.ts";
import type { FolderModel } from "./folder_model.ts";

/** Returns what a key with some permissions finds in the menu of the bar for selected entries. */
function barOf(permissions: readonly Permission[], entries: readonly Entry[]): string[] {
  const session = { may: (one: Permission) => permissions.includes(one) };
  const folder = { room: { app: { session } } } as unknown as FolderModel;
  return itemsOf("bar", { folder, entries }).map((item) => item === "-" ? item : item.label);
}

const FILE: Entry = { kind: "file", name: "a.txt" };
const FOLDER: Entry = { kind: "folder", name: "trip/" };

Deno.test("A menu has what the key may do, in groups without empty ones", () => {
  assertEquals(barOf(["delete"], [FILE]), ["Delete", "-", "Select all", "Details"]);
  assertEquals(barOf([], [FILE]), ["Select all", "Details"]);
  const all: Permission[] = ["read", "list", "write", "delete"];
  const changes = ["-", "Rename", "Move to…", "Copy to…", "-", "Delete"];
  const end = ["-", "Select all", "Details"];
  assertEquals(barOf(all, [FILE]), ["Download", "Share…", "Copy link", ...changes, ...end]);
  assertEquals(barOf(all, [FILE, FOLDER]), [
    "Download",
    ...changes.filter((label) => label !== "Rename"),
    ...end,
  ]);
});

Deno.test("A folder can be shared only by a key that may list it", () => {
  assertEquals(barOf(["read"], [FILE]).includes("Share…"), true);
  assertEquals(barOf(["read"], [FOLDER]).includes("Share…"), false);
  assertEquals(barOf(["read", "list"], [FOLDER]).includes("Share…"), true);
});

Deno.test("Every shortcut of an action is told once, in words", () => {
  const keys = SHORTCUTS.map(([keys]) => keys);
  assertEquals(keys, ["Enter", "F2", "Delete", "Ctrl+C, Ctrl+X, Ctrl+V", "Ctrl+A", "Alt+↑"]);
  assertEquals(SHORTCUTS.map(([, what]) => what).filter((what) => what.includes("=>")), []);
});

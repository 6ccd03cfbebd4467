import { assertEquals } from "@std/assert";
import type { Entry } from "../entry.ts";
import {
  editedLength,
  freeNames,
  isName,
  labelProblem,
  mayGoTo,
  nameIn,
  numbered,
} from "./naming.ts";

const FILE: Entry = { kind: "file", name: "trip/a.jpg" };
const FOLDER: Entry = { kind: "folder", name: "trip/2026/" };

Deno.test("The server is asked only about names that files can have", () => {
  const names = ["a.jpg", "trip/", "é".repeat(513), "a\0", "\u2003", "\ud800", ""];
  assertEquals(names.filter(isName), ["a.jpg", "trip/"]);
});

Deno.test("A name that cannot be is refused with the reason", async () => {
  const isTaken = (label: string) => Promise.resolve(label === "b.jpg");
  assertEquals(await labelProblem("c.jpg", isTaken), undefined);
  assertEquals(await labelProblem("  ", isTaken), "Enter a name");
  assertEquals(await labelProblem("a/b", isTaken), "A name cannot contain “/”");
  assertEquals(await labelProblem("b.jpg", isTaken), "There is a “b.jpg” already");
  assertEquals(await labelProblem("é".repeat(513), isTaken), "The name is too long");
});

Deno.test("Entries keep their label in another folder, and a folder cannot go into itself", () => {
  assertEquals([nameIn("", FILE), nameIn("x/", FOLDER)], ["a.jpg", "x/2026/"]);
  assertEquals(["", "trip/", "trip/2026/", "trip/2026/b/"].map((path) => mayGoTo(FOLDER, path)), [
    true,
    true,
    false,
    false,
  ]);
});

Deno.test("A second file of a name gets a number before its extension", () => {
  const taken = new Set(["a (2).jpg", "d (2)/"]);
  const isTaken = (name: string) => taken.has(name);
  assertEquals(numbered("a.jpg", isTaken), "a (3).jpg");
  assertEquals(numbered("a (2).jpg", isTaken), "a (3).jpg");
  assertEquals(numbered("x/.profile", isTaken), "x/.profile (2)");
  assertEquals(numbered("d/", isTaken), "d (3)/");
});

Deno.test("The extension is not selected when a file is renamed", () => {
  assertEquals([editedLength(FILE), editedLength(FOLDER)], [1, 4]);
});

Deno.test("Names get numbers that neither the drive nor another file has, in few calls", async () => {
  const there = new Set(["a (2).jpg", "a (3).jpg"]);
  let calls = 0;
  const find = (names: readonly string[]) => {
    calls++;
    return Promise.resolve(new Set(names).intersection(there));
  };
  const used = new Set(["a.jpg", "b.jpg"]);
  const names = ["a.jpg", "a.jpg", "b.jpg"];
  assertEquals(await freeNames(names, used, find), ["a (4).jpg", "a (5).jpg", "b (2).jpg"]);
  assertEquals(calls, 2);
});

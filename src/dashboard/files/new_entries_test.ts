import { assertEquals } from "@std/assert";
import type { ListOptions } from "../core/types.d.ts";
import { newEntries } from "./new_entries.js";

const PLACE = { project: "p", drive: "d" };

async function rows(names: string[], prefix: string, recursive = false): Promise<string[]> {
  const listFiles = (_project: string, _drive: string, options: ListOptions = {}) => {
    const { prefix: name = "" } = options;
    const found = name === "a/gone" ? "a/gone later" : name;
    return Promise.resolve({ names: [found], files: [{ name: found, etag: "1" }] });
  };
  const { signal } = new AbortController();
  const entries = await newEntries({ listFiles }, PLACE, names, { prefix, recursive, signal });
  return entries.map(({ name }) => name).toSorted();
}

Deno.test("New files become rows of their folder; deeper ones become their subfolder", async () => {
  const names = ["a/x", "a/b/1", "a/b/2", "c", "a/gone"];
  assertEquals(await rows(names, "a/"), ["a/b/", "a/x"]);
  assertEquals(await rows(names, ""), ["a/", "c"]);
  assertEquals(await rows(names, "a/b", true), ["a/b/1", "a/b/2"]);
});

import { assertEquals } from "@std/assert";
import type { ListOptions } from "../core/types.d.ts";
import { compareNames } from "./order.js";
import { commonPrefix, takenNames } from "./taken_names.js";

const PLACE = { project: "p", drive: "d" };

function driveWith(names: string[]) {
  const requested: string[] = [];
  const api = {
    listFiles(_project: string, _drive: string, options: ListOptions = {}) {
      const { prefix = "", limit = 1000 } = options;
      requested.push(prefix);
      const all = names.filter((name) => name.startsWith(prefix)).sort(compareNames);
      const page = all.slice(0, limit);
      const last = page.at(-1) ?? "";
      const paging = all.length > limit ? { paging: { size: limit, last } } : {};
      return Promise.resolve({ names: page, ...paging });
    },
  };
  return { api, requested };
}

function taken(api: ReturnType<typeof driveWith>["api"], names: string[]): Promise<Set<string>> {
  return takenNames(api, PLACE, names, { signal: new AbortController().signal });
}

Deno.test("One page is enough to find existing names if all fit into it", async () => {
  const { api, requested } = driveWith(["album/a", "album/b/c", "other"]);
  assertEquals(await taken(api, ["album/a", "album/b", "album/z"]), new Set(["album/a"]));
  assertEquals(requested, ["album/"]);
});

Deno.test("Otherwise each name is looked up, and a longer name with the same prefix does not count", async () => {
  const many = Array.from({ length: 2000 }, (_, index) => `n${index}`);
  const { api } = driveWith([...many, "a.txt", "b.txt.bak"]);
  const found = await taken(api, ["a.txt", "b.txt", "n5", "n5000"]);
  assertEquals(found, new Set(["a.txt", "n5"]));
});

Deno.test("The common prefix of names never splits a character", () => {
  assertEquals(commonPrefix(["a/b", "a/c"]), "a/");
  assertEquals(commonPrefix(["x"]), "x");
  assertEquals(commonPrefix(["a", "b"]), "");
  assertEquals(commonPrefix(["x😀", "x😁"]), "x");
  assertEquals(commonPrefix([]), "");
});

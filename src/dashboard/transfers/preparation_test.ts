import { assertEquals, assertLess } from "@std/assert";
import { compareNames, type ListNames, takenNames } from "./preparation.ts";

/** A drive that lists its names. */
function driveWith(names: readonly string[]): { list: ListNames; calls: () => number } {
  let calls = 0;
  const all = [...names].sort(compareNames);
  const list: ListNames = ({ prefix, last = "", limit }) => {
    calls++;
    const rest = all.filter((name) => name.startsWith(prefix) && compareNames(name, last) > 0);
    const page = { names: rest.slice(0, limit) };
    return Promise.resolve(rest.length > limit ? { ...page, paging: {} } : page);
  };
  return { list, calls: () => calls };
}

Deno.test("One call finds the existing names of a small folder", async () => {
  const { list, calls } = driveWith(["album/a", "album/b/c", "other"]);
  const names = ["album/z", "album/a", "album/b"];
  assertEquals(await takenNames(list, names, "album/"), new Set(["album/a"]));
  assertEquals(calls(), 1);
});

Deno.test("A few names in a large folder cost a few calls, many no more than its list", async () => {
  const many = Array.from({ length: 50_000 }, (_, index) => `n${index}`);
  const { list, calls } = driveWith([...many, "a.txt", "b.txt.bak", "😀1", "\uFFFD"]);
  const names = ["a.txt", "b.txt", "n5", "n49999", "n50000", "😀1", "😀2", "\uFFFD"];
  const found = await takenNames(list, names, "");
  assertEquals(found, new Set(["a.txt", "n5", "n49999", "😀1", "\uFFFD"]));
  assertLess(calls(), 16);
  const before = calls();
  assertEquals((await takenNames(list, many, "")).size, many.length);
  assertEquals(calls() - before, 50);
});

Deno.test("Names are compared by the bytes of their UTF-8", () => {
  const names = ["b", "a", "a/b", "é", "\uFFFD", "😀", "a😀", "a\uE000"];
  const encoder = new TextEncoder();
  const bytes = (name: string) => [...encoder.encode(name)].map((byte) => byte + 0x100).join();
  assertEquals(
    [...names].sort(compareNames),
    [...names].sort((a, b) => bytes(a) < bytes(b) ? -1 : 1),
  );
});

import { assertEquals } from "@std/assert";
import { splitParts } from "./content.ts";

async function cut(pieces: readonly string[], size: number): Promise<[number, string, boolean][]> {
  async function* bytes(): AsyncGenerator<Uint8Array> {
    for (const piece of pieces) yield await Promise.resolve(new TextEncoder().encode(piece));
  }
  const parts: [number, string, boolean][] = [];
  for await (const { number, bytes: part, isLast } of splitParts(bytes(), size)) {
    parts.push([number, new TextDecoder().decode(part), isLast]);
  }
  return parts;
}

Deno.test("A stream is split into parts of one size, however its chunks are sized", async () => {
  assertEquals(await cut([], 3), [[1, "", true]]);
  assertEquals(await cut(["", ""], 3), [[1, "", true]]);
  assertEquals(await cut(["abc"], 3), [[1, "abc", true]]);
  const four = [[1, "abc", false], [2, "d", true]] as [number, string, boolean][];
  for (const pieces of [["abcd"], ["a", "b", "c", "d"], ["ab", "", "cd"], ["abc", "d"]]) {
    assertEquals(await cut(pieces, 3), four);
  }
  assertEquals(await cut(["abcdefghi"], 3), [
    [1, "abc", false],
    [2, "def", false],
    [3, "ghi", true],
  ]);
});

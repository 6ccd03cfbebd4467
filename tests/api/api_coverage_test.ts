import { assertEquals, assertGreater } from "@std/assert";

const TESTS = new URL("../", import.meta.url);
const TABLE = new URL("API_COVERAGE.md", import.meta.url);

/** The tests that the table names, as `file › name`. */
function named(table: string): { file: string; name: string }[] {
  const matches = table.matchAll(/(`+)([\w/]+) › (.+?)\1(?=[\s|]|$)/gm);
  return [...matches].map(([, , file = "", name = ""]) => ({ file, name }));
}

Deno.test("Every test that API_COVERAGE.md names exists.", async () => {
  const tests = named(await Deno.readTextFile(TABLE));
  assertGreater(tests.length, 150);
  const missing: string[] = [];
  for (const { file, name } of tests) {
    const source = await Deno.readTextFile(new URL(`${file}_test.ts`, TESTS));
    // What a table of cases puts into a name is "…" there.
    const pieces = name.split("…").map((piece) => piece.trim()).filter((piece) => piece.length > 1);
    if (!pieces.every((piece) => source.includes(piece))) missing.push(`${file} › ${name}`);
  }
  assertEquals(missing, []);
});

Deno.test("Every file that API_COVERAGE.md names exists.", async () => {
  const table = await Deno.readTextFile(TABLE);
  const files = new Set([...table.matchAll(/[\w/]+_test\.ts/g)].map(([file]) => file));
  assertGreater(files.size, 5);
  for (const file of files) {
    assertEquals((await Deno.stat(new URL(file, TESTS))).isFile, true, file);
  }
});

import { assertEquals, assertThrows } from "@std/assert";
import { join } from "@std/path/join";
import { ROOT } from "../package/parts.ts";
import { mutate, parseMutants, readMutants } from "./table.ts";

const MUTANTS = await readMutants();

Deno.test("a table has files with their tests, and changes of one or more lines", () => {
  const table =
    "== a.ts: a_test.ts b_test.ts\n-x\n+y\n? because\n-  x\n-\n+\n\n== b.ts: b_test.ts\n-x\n+y\n";
  const [a, b] = [{ file: "a.ts", tests: ["a_test.ts", "b_test.ts"] }, {
    file: "b.ts",
    tests: ["b_test.ts"],
  }];
  assertEquals(parseMutants(table), [
    { ...a, find: "x", replace: "y" },
    { ...a, find: "  x\n", replace: "", why: "because" },
    { ...b, find: "x", replace: "y" },
  ]);
  assertThrows(() => parseMutants("== a.ts: a_test.ts\n-x\n"), SyntaxError);
});

async function existsAsFile(path: string): Promise<boolean> {
  try {
    return (await Deno.stat(join(ROOT, path))).isFile;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return false;
    throw error;
  }
}

Deno.test("every change of the table can be made in its file", async () => {
  const problems: string[] = [];
  for (const [file, mutants] of Map.groupBy(MUTANTS, ({ file }) => file)) {
    const source = await existsAsFile(file) ? await Deno.readTextFile(join(ROOT, file)) : undefined;
    for (const mutant of mutants) {
      const mutation = source === undefined
        ? { problem: "there is no such file" }
        : mutate(source, mutant);
      if ("problem" in mutation) problems.push(`${file}: ${mutation.problem}`);
    }
  }
  assertEquals(problems, []);
});

Deno.test("every change of the table has test files that exist", async () => {
  const withoutTests = MUTANTS.filter(({ tests }) => tests.length === 0);
  assertEquals(withoutTests.map(({ file, find }) => `${file}: ${find}`), []);
  const files = [...new Set(MUTANTS.flatMap(({ tests }) => tests))];
  const existing = await Promise.all(files.map(existsAsFile));
  assertEquals(files.filter((_, i) => !existing[i]), []);
});

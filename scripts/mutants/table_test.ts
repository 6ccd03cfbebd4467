import { assertEquals } from "@std/assert";
import { join } from "@std/path/join";
import { ROOT } from "../package/parts.ts";
import { mutate } from "./mutant.ts";
import { MUTANTS } from "./table.ts";

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

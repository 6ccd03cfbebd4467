import { assertEquals } from "@std/assert";
import { ROOT } from "../package/parts.ts";
import { MUTANTS } from "./mutant_table.ts";
import { mutate } from "./mutants.ts";

Deno.test("A change replaces the only occurrence of its text", () => {
  assertEquals(mutate("a < b", { find: "<", replace: "<=" }), { text: "a <= b" });
});

Deno.test("A change of a text that is missing or not unique is refused", () => {
  assertEquals(mutate("a < b", { find: ">", replace: "<" }), {
    problem: "the file does not have this text",
  });
  assertEquals(mutate("a < b < c", { find: "<", replace: "<=" }), {
    problem: "the file has this text twice",
  });
  assertEquals(mutate("a < b", { find: "<", replace: "<" }), { problem: "it changes nothing" });
});

Deno.test("Every change in the table can be made", async () => {
  const problems: string[] = [];
  for (const mutant of MUTANTS) {
    const changed = mutate(await Deno.readTextFile(ROOT + mutant.file), mutant);
    if ("problem" in changed) problems.push(`${mutant.file}: ${mutant.find}: ${changed.problem}`);
    for (const test of mutant.tests) await Deno.stat(ROOT + test);
  }
  assertEquals(problems, []);
});

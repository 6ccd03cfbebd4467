import { join } from "@std/path/join";
import { ROOT } from "../package/parts.ts";

/** A small change of the source that the tests must notice. */
export interface Mutant {
  /** The source file, relative to the project. */
  file: string;
  /** The text that is replaced. It occurs in the file exactly once. */
  find: string;
  replace: string;
  /** The test files that must fail, the most specific first. */
  tests: readonly string[];
  /** Why no test can notice the change. Without a reason a change that survives is a failure. */
  why?: string;
}

/** Reads all changes. */
export async function readMutants(): Promise<Mutant[]> {
  return parseMutants(await Deno.readTextFile(join(ROOT, "scripts/mutants/table.diff")));
}

/**
 * Parses the table. `== FILE: TEST …` begins the changes of a file. Each has the lines that are replaced after `-`, and the
 * new ones after `+`; before them, `? REASON` if no test can notice it.
 */
export function parseMutants(table: string): Mutant[] {
  const mutants: Mutant[] = [];
  let file = "";
  let tests: string[] = [];
  const change = /((?:\?.*\n)?)((?:-.*\n)+)((?:\+.*\n)+)|== (\S+): (.+)\n|\n|(.+)/g;
  for (const match of table.matchAll(change)) {
    const [, why = "", find = "", replace = "", source, names = "", wrong] = match;
    if (wrong !== undefined) throw new SyntaxError(`The table of changes has the line ${wrong}`);
    if (source !== undefined) [file, tests] = [source, names.split(" ")];
    if (find === "") continue;
    const mutant = { file, tests, find: textOf(find), replace: textOf(replace) };
    mutants.push(why === "" ? mutant : { ...mutant, why: why.slice(1).trim() });
  }
  return mutants;
}

function textOf(lines: string): string {
  return lines.slice(0, -1).split("\n").map((line) => line.slice(1)).join("\n");
}

/** A changed source, or why it cannot be changed. */
export type Mutation = { text: string; line: number } | { problem: string };

/** Returns a source with the change of a mutant, and the line that it begins in. */
export function mutate(
  source: string,
  { find, replace }: Pick<Mutant, "find" | "replace">,
): Mutation {
  const at = source.indexOf(find);
  if (at === -1) return { problem: `the file does not contain ${JSON.stringify(find)}` };
  if (source.indexOf(find, at + 1) !== -1) {
    return { problem: `the file contains ${JSON.stringify(find)} more than once` };
  }
  if (find === replace) return { problem: "the replacement is the same text" };
  const text = source.slice(0, at) + replace + source.slice(at + find.length);
  return { text, line: source.slice(0, at).split("\n").length };
}

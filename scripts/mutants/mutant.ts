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

/** A change of one file, with tests of its own if those of the file are not the ones that must notice it. */
export type Change = Pick<Mutant, "find" | "replace" | "why"> & { tests?: readonly string[] };

/** Returns the mutants of one file. */
export function mutantsOf(
  file: string,
  tests: readonly string[],
  changes: readonly Change[],
): Mutant[] {
  return changes.map((change) => ({ file, tests, ...change }));
}

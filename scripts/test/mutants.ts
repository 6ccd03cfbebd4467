/** A change of the source that the tests have to notice. */
export interface Mutant {
  /** The source file, by its path in the project. */
  file: string;
  /** The text that is replaced. The file has it exactly once. */
  find: string;
  replace: string;
  /** The test files that should fail. */
  tests: readonly string[];
  /** Why no test can notice the change, if none can. */
  survives?: string;
}

/** Makes a change. @returns the new text, or why it cannot be made. */
export function mutate(
  source: string,
  { find, replace }: Pick<Mutant, "find" | "replace">,
): { text: string } | { problem: string } {
  const at = source.indexOf(find);
  if (at === -1) return { problem: "the file does not have this text" };
  if (source.indexOf(find, at + 1) !== -1) return { problem: "the file has this text twice" };
  if (find === replace) return { problem: "it changes nothing" };
  return { text: source.slice(0, at) + replace + source.slice(at + find.length) };
}

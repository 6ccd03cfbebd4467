import type { ServeOptions } from "./serve_options.ts";
import type { OptionSpec } from "./arguments.ts";
import { parseCommandLine } from "./parser.ts";

/** Parses words as the options of a command that has these and no operands. */
export function parseOptions(
  options: readonly OptionSpec[],
  words: readonly string[],
): ReadonlyMap<string, string> {
  const load = () => Promise.reject(new Error("The command is only parsed"));
  const command = { name: "test", usage: "", summary: "", options, examples: [], load };
  const line = parseCommandLine([command], ["test", ...words]);
  if (!("args" in line)) throw new Error("The words ask for help");
  return line.args.options;
}

/** An option with a value. --tls-cert and --tls-key have tests of their own. */
export interface OptionCase {
  name: string;
  field: keyof ServeOptions;
  /** Texts and their values; the first two differ. */
  good: readonly (readonly [string, unknown])[];
  bad: readonly string[];
}

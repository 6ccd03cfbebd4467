import { parseArgs } from "node:util";
import { UsageError } from "./usage_error.ts";

/** An option of the command line: `--name`. */
export interface OptionSpec {
  name: string;
  /** A letter that stands for it as well: `-n`. */
  short?: string;
  /** What stands for its value in the help; `undefined` for a switch, which needs none. */
  value?: string;
  /** Whether its value must not be where other users of the machine can read it. */
  isSecret?: true;
  help: string;
}

/** What a command line says behind its command. */
export interface Flags {
  /** By the name of the option. A switch that is on is `"true"`. */
  options: Map<string, string>;
  /** What is no option, in order. */
  operands: string[];
}

/**
 * Reads options, each given at most once and with a value if it needs one.
 *
 * @param advice What stands behind a colon in every error: where the right form is found.
 * @throws {UsageError} on anything that is not one of the options. Values are not repeated.
 */
export function parseFlags(specs: readonly OptionSpec[], args: string[], advice: string): Flags {
  const { values, positionals } = parseStrictly(specs, args, advice);
  const options = new Map<string, string>();
  for (const { name, value } of specs) {
    const [first, second] = values[name] ?? [];
    if (second !== undefined) {
      throw new UsageError(`The option --${name} is given more than once: ${advice}`);
    }
    if (first === "") {
      throw new UsageError(`The option --${name} needs a value: ${value}; ${advice}`);
    }
    if (first !== undefined) options.set(name, String(first));
  }
  return { options, operands: positionals };
}

interface Parsed {
  values: Record<string, (string | boolean)[] | undefined>;
  positionals: string[];
}

function parseStrictly(specs: readonly OptionSpec[], args: string[], advice: string): Parsed {
  const options = specs.map(({ name, short, value }) => {
    const type = value === undefined ? "boolean" as const : "string" as const;
    return [name, { type, multiple: true as const, ...(short && { short }) }] as const;
  });
  try {
    return parseArgs({ args, options: Object.fromEntries(options), allowPositionals: true });
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    const [sentence = ""] = error.message.split(/\.?\n|\. /);
    throw new UsageError(`${sentence}: ${advice}`, { cause: error });
  }
}

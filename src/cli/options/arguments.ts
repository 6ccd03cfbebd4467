import { parseArgs } from "node:util";
import { UsageError } from "../terminal/errors.ts";
import { Environment } from "../terminal/output.ts";
import { quoteWord } from "../terminal/text.ts";
import type { ValueType } from "./value_types.ts";

/** A command of the program, as the help shows it and as it is run. */
export interface Command {
  /** As it is typed behind `kvdrive`: `project create`. */
  name: string;
  /** How it is called, as errors about its use repeat it. */
  form: string;
  summary: string;
  options: readonly OptionSpec[];
  run(args: string[], env: Environment): Promise<void> | void;
}

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

/** The name of the environment variable of an option. */
export function variableOf(name: string): string {
  return `KVDRIVE_${name.toUpperCase().replaceAll("-", "_")}`;
}

/** The value of an option. */
export interface OptionValue {
  text: string;
  /** Where it came from, as the person who gave it knows it. */
  source: string;
}

/** What the command line and the environment say. The command line wins. */
export class OptionValues {
  readonly #values = new Map<string, OptionValue>();

  /**
   * @param advice What stands behind a colon in errors: where the right form is found.
   * @throws {UsageError} on anything that is not one of the options.
   */
  constructor(specs: readonly OptionSpec[], args: string[], env: Environment, advice: string) {
    const { options, operands: [stray] } = parseFlags(specs, args, advice);
    if (stray !== undefined) {
      throw new UsageError(`Unknown argument ${quoteWord(stray)}: ${advice}`);
    }
    for (const { name } of specs) {
      const flag = options.get(name);
      const variable = env[variableOf(name)] ?? "";
      if (flag !== undefined) this.#values.set(name, { text: flag, source: `--${name}` });
      else if (variable !== "") {
        this.#values.set(name, { text: variable, source: variableOf(name) });
      }
    }
  }

  get(name: string): OptionValue | undefined {
    return this.#values.get(name);
  }

  text(name: string): string | undefined {
    return this.#values.get(name)?.text;
  }

  /** The value of an option, or another where it is not given. @throws {UsageError} where it has not its form. */
  parsed<T, A>(name: string, absent: A, { parse, expected: wanted }: ValueType<T>): T | A {
    const found = this.#values.get(name);
    if (found === undefined) return absent;
    const parsed = parse(found.text);
    if (parsed !== undefined) return parsed;
    throw new UsageError(`Bad value "${found.text}" of ${found.source}: it must be ${wanted}`);
  }
}

import { parseArgs } from "node:util";
import { type Environment, UsageError } from "../terminal/output.ts";
import { quoteWord } from "../terminal/text.ts";
import type { ValueType } from "./value_types.ts";

/** A command of the program. */
export interface Command {
  /** As it is typed after `kvdrive`: `project create`. */
  name: string;
  /** The usage line: `kvdrive project create [NAME] [--id ID]`. */
  usage: string;
  summary: string;
  options: readonly OptionSpec[];
  run(args: string[], env: Environment): Promise<void> | void;
}

/** An option of a command: `--name`. */
export interface OptionSpec {
  name: string;
  /** Its short form: `n` for `-n`. */
  short?: string;
  /** The kind of its value, as the help shows it; `undefined` for a switch. */
  value?: string;
  /** Whether the value must not be readable by other users of the machine. */
  isSecret?: true;
  help: string;
  /** Its default, as it would be typed. */
  default?: string;
  /** What applies without the option, where no value says that. */
  unset?: string;
  /** Its environment variable, if it is not an option of `serve`. */
  variable?: string;
}

/** The parsed arguments of a command. */
export interface Flags {
  /** By the option's name; a switch that is on is `"true"`. */
  options: Map<string, string>;
  /** The other arguments, in order. */
  operands: string[];
}

/**
 * Parses arguments. Each option may be given once, with a value if it needs one. (The runtime's own parser, as frameworks
 * such as commander or citty add 30 ms to every start and repeat values in their errors, which may be secrets.)
 *
 * @param advice The end of every error message, after a colon: where to find the usage.
 * @throws {UsageError} on anything that is not one of the options. Values are not repeated: they may be secret.
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
      throw new UsageError(`The option --${name} needs a value, ${value}: ${advice}`);
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

/** Returns the environment variable of an option of `serve`. */
export function variableOf(name: string): string {
  return `KVDRIVE_${name.toUpperCase().replaceAll("-", "_")}`;
}

/** The value of an option. */
export interface OptionValue {
  text: string;
  /** Its source, for messages: the option or the variable. */
  source: string;
}

/** The values of options from the command line, which takes precedence, and the environment. */
export class OptionValues {
  readonly #specs: ReadonlyMap<string, OptionSpec>;
  readonly #values = new Map<string, OptionValue>();

  /**
   * @param advice The end of every error message, after a colon.
   * @throws {UsageError} on anything that is not one of the options.
   */
  constructor(specs: readonly OptionSpec[], args: string[], env: Environment, advice: string) {
    const { options, operands: [stray] } = parseFlags(specs, args, advice);
    if (stray !== undefined) {
      throw new UsageError(`Unknown argument ${quoteWord(stray)}: ${advice}`);
    }
    this.#specs = new Map(specs.map((spec) => [spec.name, spec]));
    for (const { name } of specs) {
      const flag = options.get(name);
      const variable = env[variableOf(name)] ?? "";
      if (flag !== undefined) this.#values.set(name, { text: flag, source: `--${name}` });
      else if (variable !== "") {
        this.#values.set(name, { text: variable, source: variableOf(name) });
      }
    }
  }

  /** Returns a value that was given, not a default. */
  get(name: string): OptionValue | undefined {
    return this.#values.get(name);
  }

  /** Returns the text of a value, or of its default. */
  text(name: string): string | undefined {
    return this.#values.get(name)?.text ?? this.#specs.get(name)?.default;
  }

  /** Parses a value or its default. @throws {UsageError} if it is invalid. */
  parsed<T>(name: string, type: ValueType<T>): T {
    const found = this.get(name) ?? this.#default(name);
    if (found === undefined) throw new TypeError(`The option --${name} has no default`);
    return parseValue(found, type);
  }

  /** Parses a value that was given; `undefined` if it was not. @throws {UsageError} if it is invalid. */
  optional<T>(name: string, type: ValueType<T>): T | undefined {
    const found = this.get(name);
    return found && parseValue(found, type);
  }

  #default(name: string): OptionValue | undefined {
    const text = this.#specs.get(name)?.default;
    return text === undefined ? undefined : { text, source: `the default of --${name}` };
  }
}

/** Parses the value of an option. @throws {UsageError} if it is invalid. */
export function parseValue<T>({ text, source }: OptionValue, { parse, expected }: ValueType<T>): T {
  const parsed = parse(text);
  if (parsed !== undefined) return parsed;
  throw new UsageError(`Bad value "${text}" of ${source}: it must be ${expected}`);
}

/**
 * The interface of commands.
 *
 * To add a command:
 *
 * 1. Write its function in a room of `src/cli/commands/`, one file a subject. It receives a `CommandCall`
 *    (`commands/command_call.ts`: arguments, output, and what opens a server or a store), or the bare `Arguments` and
 *    the environment.
 * 2. Describe it in the table of that room, such as `commands/files/table.ts`: name, operands, options, summary, examples
 *    and `load`, which imports the function. Tables import nothing heavy: every start of the program reads all of them,
 *    but runs the `load` of one command only. The functions of `commands/command_kinds.ts` add the options that all
 *    commands of a kind have.
 * 3. Nothing else: `src/cli/commands.ts` has all tables, and the parser, `kvdrive help`, the completions of the shells and
 *    docs/configuration.md are derived from them.
 *
 * The notation of operands: `NAME` is required, `[NAME]` is optional, `NAME...` or `[NAME...]` takes any number.
 * What stands inside of an operand (`DRIVE:[NAME]`) is for the reader. `Arguments.get("NAME")` returns an operand by its
 * notation without the outer brackets and dots; `Arguments.operands` has all of them in order.
 *
 * Errors: throw a `UsageError` for an invalid command line (status 2), a `CommandError` or a `ClientError` for a failure
 * (status 1). Results go to standard output, everything else to standard error. A switch named `no-…` is an ordinary one.
 *
 * @module
 */

import type { Environment } from "../terminal/output.ts";
import type { OptionSpec } from "./arguments.ts";

export interface Command {
  /** As it is typed after `kvdrive`: `project create`. */
  name: string;
  /** Earlier names, which still work but are not shown. */
  oldNames?: readonly string[];
  /** In order, in the notation above. */
  operands?: readonly string[];
  /** Its own options. */
  options?: readonly OptionSpec[];
  /** The options that it shares with other commands of its kind: in its help, but not in its usage line. */
  commonOptions?: readonly OptionSpec[];
  /** Options that the help of another command shows. */
  furtherOptions?: readonly OptionSpec[];
  /** What stands after the name in the usage line, in place of the operands and options. */
  usage?: string;
  summary: string;
  /** At least one. */
  examples: readonly Example[];
  /** Whether help and completions leave it out. */
  isHidden?: true;
  /** Imports what runs the command. */
  load(): Promise<Run>;
}

/** A command line, and what it does. */
export type Example = readonly [line: string, meaning: string];

/** Runs a command. It ends normally if the command succeeded. */
export type Run = (args: Arguments, env: Environment) => Promise<void> | void;

export class Arguments {
  /** The arguments that are no options, in order. */
  readonly operands: readonly string[];
  /** The name of the command, and its usage line. */
  readonly name: string;
  readonly usage: string;
  readonly #options: ReadonlyMap<string, readonly string[]>;
  readonly #named: ReadonlyMap<string, string>;

  /** @param options The values of options by their names; a switch that is on has the value `true`. */
  constructor(
    command: Command,
    options: ReadonlyMap<string, readonly string[]>,
    operands: readonly string[],
  ) {
    this.name = command.name;
    this.usage = usageOf(command);
    this.operands = operands;
    this.#options = options;
    const names = (command.operands ?? []).map(operandName);
    this.#named = new Map(operands.map((operand, index) => [names[index] ?? "", operand]));
  }

  /** Returns the value of an option, `name`, or of an operand, `NAME`; `undefined` if it is not given. */
  get(name: string): string | undefined {
    return this.#options.get(name)?.[0] ?? this.#named.get(name);
  }

  /** Returns all values of an option that may be given several times. */
  all(name: string): readonly string[] {
    return this.#options.get(name) ?? [];
  }

  /** Reports whether a switch is on, or an option given. */
  has(name: string): boolean {
    return this.#options.has(name);
  }

  /** The value of each option that is given, by its name; several values are joined with commas. */
  get options(): ReadonlyMap<string, string> {
    return new Map([...this.#options].map(([name, values]) => [name, values.join(",")]));
  }
}

export function optionsOf(
  { options = [], commonOptions = [], furtherOptions = [] }: Command,
): OptionSpec[] {
  return [...options, ...commonOptions, ...furtherOptions];
}

/** Characters of a usage line in which all options are named. */
const MAX_USAGE = 96;

/** Returns the usage line of a command: `kvdrive project create [NAME] [--id ID]`. */
export function usageOf({ name, usage, operands = [], options = [] }: Command): string {
  if (usage !== undefined) return ["kvdrive", name, usage].join(" ").trimEnd();
  const flags = options.map(({ name, value, isRequired }) => {
    const flag = value === undefined ? `--${name}` : `--${name} ${value}`;
    return isRequired ? flag : `[${flag}]`;
  });
  const line = ["kvdrive", name, ...operands, ...flags].join(" ");
  return line.length <= MAX_USAGE ? line : ["kvdrive", name, ...operands, "[OPTIONS]"].join(" ");
}

/** The least and the greatest number of operands. */
export function operandCounts({ operands = [] }: Command): [min: number, max: number] {
  const isEndless = operands.some((operand) => /\.\.\.\]?$/.test(operand));
  return [
    operands.filter((operand) => !isOptional(operand)).length,
    isEndless ? Infinity : operands.length,
  ];
}

/** Returns the notation of an operand without brackets and dots. */
export function operandName(operand: string): string {
  return (isOptional(operand) ? operand.slice(1, -1) : operand).replace(/\.\.\.$/, "");
}

function isOptional(operand: string): boolean {
  return operand.startsWith("[") && operand.endsWith("]");
}

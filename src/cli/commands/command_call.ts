import { isProjectId } from "../../rules/names.ts";
import { formatBytes } from "../../rules/units.ts";
import { parseValue } from "../options/arguments.ts";
import type { Arguments } from "../options/command.ts";
import type { ValueType } from "../options/value_types.ts";
import { type Environment, print, UsageError } from "../terminal/output.ts";
import { confirm, requireTerminal } from "../terminal/prompt.ts";
import { styleFor } from "../terminal/style.ts";
import { type Cell, table } from "../terminal/table.ts";
import { printable, printableJson } from "../terminal/text.ts";

/** What a call is told of its command. */
export interface CallSettings {
  /** Whether it asks for confirmation, as it destroys something. */
  asks?: true | undefined;
  /** Whether it creates the store if there is none. */
  makesStore?: true | undefined;
}

/** The call of a command: its arguments and its output. */
export class CommandCall {
  /** @throws {UsageError} if it has to ask for confirmation, and there is no terminal. */
  constructor(
    readonly args: Arguments,
    readonly env: Environment,
    { asks }: CallSettings = {},
  ) {
    if (asks && !args.has("yes")) requireTerminal(args.usage);
  }

  get operands(): readonly string[] {
    return this.args.operands;
  }

  operand(index: number): string {
    return this.operands[index] ?? "";
  }

  /** Returns the value of an option, `name`, or of an operand, `NAME`; `undefined` if it is not given. */
  get(name: string): string | undefined {
    return this.args.get(name);
  }

  has(name: string): boolean {
    return this.args.has(name);
  }

  /** Returns the value of a required option or operand. */
  required(name: string): string {
    const value = this.args.get(name);
    if (value === undefined) throw new TypeError(`The command takes no ${name}`);
    return value;
  }

  /** @throws {UsageError} if a value is given and `problemOf` returns a problem. The value is not repeated. */
  validate(name: string, problemOf: (value: string) => string | undefined): void {
    const value = this.get(name);
    const problem = value === undefined ? undefined : problemOf(value);
    if (problem === undefined) return;
    const label = name === name.toUpperCase() ? name : `--${name}`;
    throw new UsageError(`The value of ${label} ${problem}`);
  }

  /** Parses the value of an option; `undefined` if it is not given. @throws {UsageError} if it is invalid. */
  parsed<T>(name: string, type: ValueType<T>): T | undefined {
    const text = this.get(name);
    return text === undefined ? undefined : parseValue({ text, source: `--${name}` }, type);
  }

  /** The operand PROJECT. @throws {UsageError} if it is no project id, but a whole key, for example. */
  get project(): string {
    this.validate("PROJECT", projectIdProblem);
    return this.required("PROJECT");
  }

  /** Asks for confirmation, unless `--yes` is given. @throws {CommandError} unless the answer is yes. */
  confirm(question: string): void {
    if (!this.args.has("yes")) confirm(question);
  }

  /** Prints a result: with `--json` the JSON, as the HTTP API returns it, else lines of text. */
  print(json: unknown, lines: readonly string[]): void {
    if (this.args.has("json")) print(`${printableJson(json)}\n`);
    else print(lines.map((line) => `${printable(line)}\n`).join(""));
  }

  /** Prints a result as `print` does, as a table, or as a sentence if it has no rows. */
  printTable(
    json: unknown,
    headings: readonly string[],
    rows: readonly (readonly Cell[])[],
    ifEmpty: string,
  ): void {
    if (this.args.has("json") || rows.length === 0) this.print(json, [ifEmpty]);
    else print(table(headings, rows, styleFor(Deno.stdout, this.env).bold));
  }
}

/** Returns what is wrong with a project id, as the end of a sentence; `undefined` if it is valid. */
export function projectIdProblem(id: string): string | undefined {
  return isProjectId(id)
    ? undefined
    : "must be a project id, 1 to 64 of A-Z a-z 0-9 -: the part of a key before the _";
}

/** Returns a size as a cell: "1.5 MB" on a terminal, else the exact number. */
export function sizeCell(bytes: number): Cell {
  return Deno.stdout.isTerminal() ? formatBytes(bytes) : bytes;
}

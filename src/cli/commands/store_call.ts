import type { ServerNames } from "../../rules/hosts.ts";
import { isProjectId } from "../../rules/names.ts";
import type { Store } from "../../store/store.ts";
import { parseValue, variableOf } from "../options/arguments.ts";
import type { Arguments } from "../options/command.ts";
import { kvUrl, serverNamesIn } from "../options/serve_options.ts";
import type { ValueType } from "../options/value_types.ts";
import { type Environment, print, printError, UsageError } from "../terminal/output.ts";
import { confirm, requireTerminal } from "../terminal/prompt.ts";
import { styleFor } from "../terminal/style.ts";
import { type Cell, table } from "../terminal/table.ts";
import { TaskProgress } from "../terminal/task_progress.ts";
import { printable, printableJson } from "../terminal/text.ts";
import { hasStore, noStore, withStore } from "./local_store.ts";

/** The call of a store command: its arguments, its store and its output. */
export class StoreCall {
  /** The store's folder. */
  readonly data: string;
  /** The URL of a shared store, in place of the folder. */
  readonly kv: string | undefined;
  readonly #args: Arguments;
  readonly #env: Environment;
  readonly #makesStore: boolean;

  /** @throws {UsageError} if it has to ask for confirmation, and there is no terminal. */
  constructor(
    args: Arguments,
    env: Environment,
    { asks = false, makesStore = false }: { asks?: boolean; makesStore?: boolean } = {},
  ) {
    this.#args = args;
    this.#env = env;
    this.#makesStore = makesStore;
    this.data = args.get("data") ?? (env["KVDRIVE_DATA"] || "./data");
    this.kv = kvOf(args, env);
    if (asks && !args.has("yes")) requireTerminal(args.usage);
  }

  /** Returns the value of an option, `name`, or of an operand, `NAME`; `undefined` if it is not given. */
  get(name: string): string | undefined {
    return this.#args.get(name);
  }

  /**
   * Parses the value of an option, or of its environment variable; `undefined` if neither is given.
   *
   * @throws {UsageError} if it is invalid.
   */
  setting<T>(name: string, type: ValueType<T>): T | undefined {
    const flag = this.#args.get(name);
    const text = flag ?? this.#env[variableOf(name)] ?? "";
    if (text === "") return undefined;
    return parseValue({ text, source: flag === undefined ? variableOf(name) : `--${name}` }, type);
  }

  /** Reports whether a switch is on. */
  has(name: string): boolean {
    return this.#args.has(name);
  }

  /** Returns the value of a required option or operand. */
  required(name: string): string {
    const value = this.#args.get(name);
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

  /** The operand PROJECT. @throws {UsageError} if it is no project id, but a whole key, for example. */
  get project(): string {
    this.validate("PROJECT", projectIdProblem);
    return this.required("PROJECT");
  }

  /** The server's host names, as far as the environment tells. The server checks again by its own configuration. */
  get serverNames(): ServerNames {
    return serverNamesIn(this.#env);
  }

  /** Opens the store for `work`. @throws {CommandError} if there is none, unless the command creates it. */
  async withStore<T>(work: (store: Store) => Promise<T>): Promise<T> {
    // A shared store exists, or cannot be opened.
    if (this.kv !== undefined) return await withStore(this, work);
    const isNew = !await hasStore(this.data);
    if (isNew && !this.#makesStore) throw noStore(this.data);
    const result = await withStore(this, work);
    if (isNew) printError(`Created a new store in ${printable(this.data)}.\n`);
    return result;
  }

  /** @throws {UsageError} for a shared store, whose file is on another machine. */
  requireFolder(): void {
    if (this.kv === undefined) return;
    throw new UsageError(
      "This command needs the file of the store: give its folder with --data. For a shared store, use the tools of its server",
    );
  }

  /** @throws {CommandError} if there is no store in the folder. */
  async requireStore(): Promise<void> {
    this.requireFolder();
    if (!await hasStore(this.data)) throw noStore(this.data);
  }

  /** Starts a progress bar. @param cleanUp Called before a signal ends the program. */
  taskProgress(cleanUp: () => void): TaskProgress {
    return new TaskProgress(this.#env, cleanUp);
  }

  /** Asks for confirmation, unless `--yes` is given. @throws {CommandError} unless the answer is yes. */
  confirm(question: string): void {
    if (!this.#args.has("yes")) confirm(question);
  }

  /** Prints a result: with `--json` the JSON, as the HTTP API returns it, else lines of text. */
  print(json: unknown, lines: readonly string[]): void {
    if (this.#args.has("json")) print(`${printableJson(json)}\n`);
    else print(lines.map((line) => `${printable(line)}\n`).join(""));
  }

  /** Prints a result as `print` does, as a table, or as a sentence if it has no rows. */
  printTable(
    json: unknown,
    headings: readonly string[],
    rows: readonly (readonly Cell[])[],
    ifEmpty: string,
  ): void {
    if (this.#args.has("json") || rows.length === 0) this.print(json, [ifEmpty]);
    else print(table(headings, rows, styleFor(Deno.stdout, this.#env).bold));
  }
}

/** Returns the URL of a shared store. `--data` takes precedence over the variable KVDRIVE_KV. */
function kvOf(args: Arguments, env: Environment): string | undefined {
  const option = args.get("kv");
  if (option !== undefined) return kvUrl({ text: option, source: "--kv" });
  const variable = args.has("data") ? "" : env["KVDRIVE_KV"] ?? "";
  return variable === "" ? undefined : kvUrl({ text: variable, source: "KVDRIVE_KV" });
}

/** Returns what is wrong with a project id, as the end of a sentence; `undefined` if it is valid. */
export function projectIdProblem(id: string): string | undefined {
  return isProjectId(id)
    ? undefined
    : "must be a project id, 1 to 64 of A-Z a-z 0-9 -: the part of a key before the _";
}

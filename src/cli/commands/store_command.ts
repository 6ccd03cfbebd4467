import { resolve } from "@std/path";
import type { ServerNames } from "../../rules/hosts.ts";
import { isProjectId } from "../../rules/names.ts";
import { DiskSpace } from "../../store/disk/disk_space.ts";
import { freeBytesOf } from "../../store/disk/volume.ts";
import { databasePath, openDatabase, openProblem } from "../../store/engine/database_file.ts";
import { openRemoteDatabase } from "../../store/remote/remote_database.ts";
import { Store } from "../../store/store.ts";
import { type Command, type OptionSpec, parseFlags, variableOf } from "../options/arguments.ts";
import { DEFAULT_DISK_RESERVE, kvUrl, serverNamesIn } from "../options/serve_options.ts";
import type { ValueType } from "../options/value_types.ts";
import { CommandError, UsageError } from "../terminal/errors.ts";
import { type Environment, logFailure, print, printError } from "../terminal/output.ts";
import { confirm, requireTerminal } from "../terminal/prompt.ts";
import { type Cell, table } from "../terminal/table.ts";
import { TaskProgress } from "../terminal/task_progress.ts";
import { printable, printableJson } from "../terminal/text.ts";

/** A command that works on the store itself. */
export interface StoreCommand {
  /** As it is typed behind `kvdrive`: `project create`. */
  name: string;
  /** What has to stand behind it, in order: `PROJECT`. */
  operands?: readonly string[];
  /** What may stand behind that. */
  optional?: readonly string[];
  options?: readonly (OptionSpec & { required?: true })[];
  /** Whether it takes something away, and so asks first. */
  asks?: true;
  /** Whether it makes a store where there is none. */
  makesStore?: true;
  summary: string;
  run(call: StoreCall): Promise<void>;
}

/** The smallest database of SQLite; what is smaller it takes for an empty one, and makes one of it. */
const MIN_DATABASE = 512;

/** Whether a folder has a store. @throws {CommandError} where that cannot be found out. */
export async function hasStore(folder: string): Promise<boolean> {
  try {
    return (await Deno.stat(databasePath(folder))).size >= MIN_DATABASE;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound || error instanceof Deno.errors.NotADirectory) {
      return false;
    }
    throw new CommandError(`Cannot open the store in ${folder}: ${openProblem(error)}`, {
      cause: error,
    });
  }
}

export function noStore(folder: string): CommandError {
  const path = resolve(databasePath(folder));
  return new CommandError(
    `There is no store in ${folder}: ${path} is not there or empty; name the server's folder with --data or KVDRIVE_DATA`,
  );
}

/** Where a store is: in a folder, unless it is one behind a network. */
export interface StorePlace {
  data: string;
  kv: string | undefined;
}

/** Works on a store, beside a server that may run on it: what is left to remove is left to that. */
export async function withStore<T>(
  { data, kv }: StorePlace,
  work: (store: Store) => Promise<T>,
): Promise<T> {
  const database = kv === undefined
    ? await openDatabase(data)
    : await openRemoteDatabase({ url: kv, patience: 0 });
  const { log } = database;
  const disk = log &&
    new DiskSpace(freeBytesOf(data), DEFAULT_DISK_RESERVE, { growth: () => log.growth() });
  const store = new Store(database, { ...(disk && { disk }), onError: logFailure });
  try {
    return await work(store);
  } finally {
    await store.close();
  }
}

/** A command on the store as it was typed, and the way to answer it. */
export class StoreCall {
  /** The store's folder. */
  readonly data: string;
  /** Where a store behind a network is, in place of the folder. */
  readonly kv: string | undefined;
  readonly #values: ReadonlyMap<string, string>;
  readonly #env: Environment;
  readonly #makesStore: boolean;

  constructor(values: ReadonlyMap<string, string>, env: Environment, makesStore: boolean) {
    this.#values = values;
    this.#env = env;
    this.#makesStore = makesStore;
    this.data = values.get("data") ?? (env["KVDRIVE_DATA"] || "./data");
    this.kv = kvOf(values, env);
  }

  /** The value of an option, `name`, or of an operand, `NAME`. */
  get(name: string): string | undefined {
    return this.#values.get(name);
  }

  /**
   * The value of an option that may come from its environment variable, or another if it is not given.
   *
   * @throws {UsageError} if it does not have its form.
   */
  setting<T, A>(name: string, absent: A, { parse, expected: wanted }: ValueType<T>): T | A {
    const flag = this.#values.get(name);
    const text = flag ?? this.#env[variableOf(name)] ?? "";
    if (text === "") return absent;
    const parsed = parse(text);
    if (parsed !== undefined) return parsed;
    const source = flag === undefined ? variableOf(name) : `--${name}`;
    throw new UsageError(`Bad value "${text}" of ${source}: it must be ${wanted}`);
  }

  /** Whether a switch is on. */
  has(name: string): boolean {
    return this.#values.has(name);
  }

  /** The value of what the command has to be given. */
  required(name: string): string {
    const value = this.#values.get(name);
    if (value === undefined) throw new TypeError(`The command takes no ${name}`);
    return value;
  }

  /** @throws {UsageError} where a value is given in which `problemOf` finds one. The value is not repeated. */
  validate(name: string, problemOf: (value: string) => string | undefined): void {
    const value = this.get(name);
    const problem = value === undefined ? undefined : problemOf(value);
    if (problem === undefined) return;
    const label = name === name.toUpperCase() ? name : `--${name}`;
    throw new UsageError(`The value of ${label} ${problem}`);
  }

  /** The id of the project. @throws {UsageError} where it can be none, as a whole key would be. */
  get project(): string {
    this.validate("PROJECT", projectIdProblem);
    return this.required("PROJECT");
  }

  /** The names of the server, as far as the environment tells them. The server judges again by those that it has. */
  get serverNames(): ServerNames {
    return serverNamesIn(this.#env);
  }

  /** Works on the store. @throws {CommandError} where there is none, unless this command makes one. */
  async withStore<T>(work: (store: Store) => Promise<T>): Promise<T> {
    // One behind a network is there, or cannot be opened.
    if (this.kv !== undefined) return await withStore(this, work);
    const isNew = !await hasStore(this.data);
    if (isNew && !this.#makesStore) throw noStore(this.data);
    const result = await withStore(this, work);
    if (isNew) printError(`A new store was made in ${printable(this.data)}.\n`);
    return result;
  }

  /** @throws {UsageError} where the store is a shared one, whose file is on another machine. */
  requireFolder(): void {
    if (this.kv === undefined) return;
    throw new UsageError(
      "This command works on the file of a store: name its folder with --data; a shared store has its file where it is kept",
    );
  }

  /** @throws {CommandError} where there is no store in a folder. */
  async requireStore(): Promise<void> {
    this.requireFolder();
    if (!await hasStore(this.data)) throw noStore(this.data);
  }

  /**
   * How far the work is, where there is a terminal, until it is disposed of. A signal that ends the program meanwhile
   * cleans up first.
   */
  taskProgress(cleanUp: () => void): TaskProgress {
    return new TaskProgress(this.#env, cleanUp);
  }

  /** Asks whether to go on, unless `--yes` is given. @throws {CommandError} unless the answer is yes. */
  confirm(question: string): void {
    if (!this.#values.has("yes")) confirm(question);
  }

  /** Prints the answer: as JSON in the form of the HTTP API where that is asked for, else lines for people. */
  print(json: unknown, lines: readonly string[]): void {
    if (this.#values.has("json")) print(`${printableJson(json)}\n`);
    else print(lines.map((line) => `${printable(line)}\n`).join(""));
  }

  /** The same with a table, or a sentence where it would be empty. */
  printTable(
    json: unknown,
    headings: readonly string[],
    rows: readonly (readonly Cell[])[],
    ifEmpty: string,
  ): void {
    if (this.#values.has("json") || rows.length === 0) this.print(json, [ifEmpty]);
    else print(table(headings, rows, this.#emphasis));
  }

  /** "NO_COLOR": nothing but text, as for what is no terminal. */
  get #emphasis(): (line: string) => string {
    const { NO_COLOR = "", TERM } = this.#env;
    const isPlain = NO_COLOR !== "" || TERM === "dumb" || !Deno.stdout.isTerminal();
    return isPlain ? (line) => line : (line) => `\x1b[1m${line}\x1b[0m`;
  }
}

/** A folder on the command line wins over a variable that names a store behind a network. */
function kvOf(values: ReadonlyMap<string, string>, env: Environment): string | undefined {
  const option = values.get("kv");
  if (option !== undefined) return kvUrl({ text: option, source: "--kv" });
  const variable = values.has("data") ? "" : env["KVDRIVE_KV"] ?? "";
  return variable === "" ? undefined : kvUrl({ text: variable, source: "KVDRIVE_KV" });
}

/** What is wrong with a project's id, as the end of a sentence. */
export function projectIdProblem(id: string): string | undefined {
  return isProjectId(id)
    ? undefined
    : "must be a project's id, 1 to 64 of A-Z a-z 0-9 -: of a key it is the part before the _";
}

const STORE_OPTIONS: readonly OptionSpec[] = [
  { name: "data", value: "DIR", help: "folder of the store (KVDRIVE_DATA, else ./data)" },
  { name: "kv", value: "URL", help: "a shared store in place of the folder (KVDRIVE_KV)" },
  { name: "json", help: "print what the HTTP API answers" },
];

const YES: OptionSpec = { name: "yes", short: "y", help: "do it without asking" };

/** Makes a command of the program of one that works on the store. */
export function storeCommand(command: StoreCommand): Command {
  const { name, summary, asks, options = [] } = command;
  const specs = [...options, ...(asks ? [YES] : []), ...STORE_OPTIONS];
  const form = formOf(command);
  return {
    name,
    form,
    summary,
    options: specs,
    async run(args, env) {
      const advice = `the form is ${form}`;
      const flags = parseFlags(specs, args, advice);
      const values = flags.options;
      for (const [operand, value] of assign(command, flags.operands, advice)) {
        values.set(operand, value);
      }
      for (const option of options) {
        if (option.required && !values.has(option.name)) {
          throw new UsageError(`The option --${option.name} is missing: ${advice}`);
        }
      }
      if (asks && !values.has("yes")) requireTerminal(form);
      await command.run(new StoreCall(values, env, command.makesStore ?? false));
    },
  };
}

function formOf({ name, operands = [], optional = [], options = [], asks }: StoreCommand): string {
  const flags = options.map(({ name, value, required }) => {
    const flag = value === undefined ? `--${name}` : `--${name} ${value}`;
    return required ? flag : `[${flag}]`;
  });
  const words = [...operands, ...optional.map((operand) => `[${operand}]`), ...flags];
  return ["kvdrive", name, ...words, ...(asks ? ["[--yes]"] : [])].join(" ");
}

/** Gives each word its name. What is too much is not repeated: it may be a secret. */
function assign(
  { operands = [], optional = [] }: StoreCommand,
  words: readonly string[],
  advice: string,
): [operand: string, value: string][] {
  const missing = operands.find((_, index) => (words[index] ?? "") === "");
  if (missing !== undefined) throw new UsageError(`${missing} is missing: ${advice}`);
  const all = [...operands, ...optional];
  if (words.length > all.length) throw new UsageError(`There are too many words: ${advice}`);
  return words.map((word, index) => [all[index] ?? "", word]);
}

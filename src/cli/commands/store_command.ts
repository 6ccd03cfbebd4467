import { resolve } from "@std/path";
import type { ServerNames } from "../../rules/hosts.ts";
import { isProjectId } from "../../rules/names.ts";
import { DiskSpace } from "../../store/disk/disk_space.ts";
import { freeBytesOf } from "../../store/disk/volume.ts";
import { databasePath, openDatabase, openProblem } from "../../store/engine/database_file.ts";
import { openRemoteDatabase } from "../../store/remote/remote_database.ts";
import { Store } from "../../store/store.ts";
import {
  type Command,
  type OptionSpec,
  parseFlags,
  parseValue,
  variableOf,
} from "../options/arguments.ts";
import { DEFAULT_DISK_RESERVE, kvUrl, serverNamesIn } from "../options/serve_options.ts";
import type { ValueType } from "../options/value_types.ts";
import {
  CommandError,
  type Environment,
  logFailure,
  print,
  printError,
  UsageError,
} from "../terminal/output.ts";
import { confirm, requireTerminal } from "../terminal/prompt.ts";
import { type Cell, table } from "../terminal/table.ts";
import { TaskProgress } from "../terminal/task_progress.ts";
import { printable, printableJson } from "../terminal/text.ts";

/** A command that opens the store itself. */
export interface StoreCommand {
  /** As it is typed after `kvdrive`: `project create`. */
  name: string;
  /** Required operands, in order: `PROJECT`. */
  operands?: readonly string[];
  /** Optional operands, after those. */
  optional?: readonly string[];
  options?: readonly (OptionSpec & { required?: true })[];
  /** Whether it asks for confirmation, as it destroys something. */
  asks?: true;
  /** Whether it creates the store if there is none. */
  makesStore?: true;
  summary: string;
  run(call: StoreCall): Promise<void>;
}

/** Options of every command that opens the store. */
const STORE_OPTIONS: readonly OptionSpec[] = [
  {
    name: "data",
    value: "DIR",
    help: "folder of the store",
    variable: "KVDRIVE_DATA",
    default: "./data",
  },
  { name: "kv", value: "URL", help: "shared store in place of the folder", variable: "KVDRIVE_KV" },
  { name: "json", help: "print JSON, as the HTTP API returns it" },
];

/** The option that answers the confirmation. */
export const YES: OptionSpec = { name: "yes", short: "y", help: "do not ask for confirmation" };

/** Returns a store command as a command of the program. */
export function storeCommand(command: StoreCommand): Command {
  const { name, summary, asks, options = [] } = command;
  const specs = [...options, ...(asks ? [YES] : []), ...STORE_OPTIONS];
  const usage = usageOf(command);
  return {
    name,
    usage,
    summary,
    options: specs,
    async run(args, env) {
      const advice = `usage: ${usage}`;
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
      if (asks && !values.has("yes")) requireTerminal(usage);
      await command.run(new StoreCall(values, env, command.makesStore ?? false));
    },
  };
}

function usageOf({ name, operands = [], optional = [], options = [], asks }: StoreCommand): string {
  const flags = options.map(({ name, value, required }) => {
    const flag = value === undefined ? `--${name}` : `--${name} ${value}`;
    return required ? flag : `[${flag}]`;
  });
  const words = [...operands, ...optional.map((operand) => `[${operand}]`), ...flags];
  return ["kvdrive", name, ...words, ...(asks ? ["[--yes]"] : [])].join(" ");
}

/** Pairs operands with their values. Surplus arguments are not repeated in the error: they may be secret. */
function assign(
  { operands = [], optional = [] }: StoreCommand,
  words: readonly string[],
  advice: string,
): [operand: string, value: string][] {
  const missing = operands.find((_, index) => (words[index] ?? "") === "");
  if (missing !== undefined) throw new UsageError(`${missing} is missing: ${advice}`);
  const all = [...operands, ...optional];
  if (words.length > all.length) throw new UsageError(`Too many arguments: ${advice}`);
  return words.map((word, index) => [all[index] ?? "", word]);
}

/** The call of a store command: its arguments, its store and its output. */
export class StoreCall {
  /** The store's folder. */
  readonly data: string;
  /** The URL of a shared store, in place of the folder. */
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

  /** Returns the value of an option, `name`, or of an operand, `NAME`; `undefined` if it is not given. */
  get(name: string): string | undefined {
    return this.#values.get(name);
  }

  /**
   * Parses the value of an option, or of its environment variable; `undefined` if neither is given.
   *
   * @throws {UsageError} if it is invalid.
   */
  setting<T>(name: string, type: ValueType<T>): T | undefined {
    const flag = this.#values.get(name);
    const text = flag ?? this.#env[variableOf(name)] ?? "";
    if (text === "") return undefined;
    return parseValue({ text, source: flag === undefined ? variableOf(name) : `--${name}` }, type);
  }

  /** Reports whether a switch is on. */
  has(name: string): boolean {
    return this.#values.has(name);
  }

  /** Returns the value of a required option or operand. */
  required(name: string): string {
    const value = this.#values.get(name);
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
    if (!this.#values.has("yes")) confirm(question);
  }

  /** Prints a result: with `--json` the JSON, as the HTTP API returns it, else lines of text. */
  print(json: unknown, lines: readonly string[]): void {
    if (this.#values.has("json")) print(`${printableJson(json)}\n`);
    else print(lines.map((line) => `${printable(line)}\n`).join(""));
  }

  /** Prints a result as `print` does, as a table, or as a sentence if it has no rows. */
  printTable(
    json: unknown,
    headings: readonly string[],
    rows: readonly (readonly Cell[])[],
    ifEmpty: string,
  ): void {
    if (this.#values.has("json") || rows.length === 0) this.print(json, [ifEmpty]);
    else print(table(headings, rows, this.#emphasis));
  }

  /** Bold headings, unless NO_COLOR is set or the output is not a terminal. */
  get #emphasis(): (line: string) => string {
    const { NO_COLOR = "", TERM } = this.#env;
    const isPlain = NO_COLOR !== "" || TERM === "dumb" || !Deno.stdout.isTerminal();
    return isPlain ? (line) => line : (line) => `\x1b[1m${line}\x1b[0m`;
  }
}

/** Returns the URL of a shared store. `--data` takes precedence over the variable KVDRIVE_KV. */
function kvOf(values: ReadonlyMap<string, string>, env: Environment): string | undefined {
  const option = values.get("kv");
  if (option !== undefined) return kvUrl({ text: option, source: "--kv" });
  const variable = values.has("data") ? "" : env["KVDRIVE_KV"] ?? "";
  return variable === "" ? undefined : kvUrl({ text: variable, source: "KVDRIVE_KV" });
}

/** Returns what is wrong with a project id, as the end of a sentence; `undefined` if it is valid. */
export function projectIdProblem(id: string): string | undefined {
  return isProjectId(id)
    ? undefined
    : "must be a project id, 1 to 64 of A-Z a-z 0-9 -: the part of a key before the _";
}

/** The size of the smallest SQLite database. SQLite treats a smaller file as an empty database. */
const MIN_DATABASE = 512;

/** Reports whether a folder has a store. @throws {CommandError} if the folder cannot be read. */
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

/** Returns the error of a folder without a store. */
export function noStore(folder: string): CommandError {
  const path = resolve(databasePath(folder));
  return new CommandError(
    `There is no store in ${folder}: ${path} does not exist or is empty. Give the server's folder with --data or KVDRIVE_DATA`,
  );
}

/** The location of a store: a folder, or the URL of a shared store. */
export interface StorePlace {
  data: string;
  kv: string | undefined;
}

/** Opens a store for `work`, next to a server that may use it. Removing garbage is left to the server. */
export async function withStore<T>(
  { data, kv }: StorePlace,
  work: (store: Store) => Promise<T>,
): Promise<T> {
  const database = kv === undefined
    ? await openDatabase(data)
    : await openRemoteDatabase({ url: kv, timeout: 0 });
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

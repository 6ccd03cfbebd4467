import type { ServerNames } from "../drive/hosts.ts";
import { isProjectId } from "../drive/names.ts";
import type { Store } from "../store/store.ts";
import { confirm } from "./confirm.ts";
import { hasStore, noStore, withStore } from "./open_store.ts";
import { type Environment, variableOf } from "./given_values.ts";
import { kvUrl } from "./options.ts";
import { print, printError } from "./output.ts";
import { serverNamesIn } from "./server_names.ts";
import { type Cell, table } from "./table.ts";
import { Workshop } from "./workshop.ts";
import { UsageError } from "./usage_error.ts";
import type { Form } from "./value_forms.ts";
import { visible, visibleJson } from "./visible.ts";

/** A command on the store as it was typed, and the way to answer it. */
export class Call {
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
  setting<T, A>(name: string, absent: A, { parse, wanted }: Form<T>): T | A {
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
  demand(name: string): string {
    const value = this.#values.get(name);
    if (value === undefined) throw new TypeError(`The command takes no ${name}`);
    return value;
  }

  /** @throws {UsageError} where a value is given in which `problemOf` finds one. The value is not repeated. */
  check(name: string, problemOf: (value: string) => string | undefined): void {
    const value = this.get(name);
    const problem = value === undefined ? undefined : problemOf(value);
    if (problem === undefined) return;
    const label = name === name.toUpperCase() ? name : `--${name}`;
    throw new UsageError(`The value of ${label} ${problem}`);
  }

  /** The id of the project. @throws {UsageError} where it can be none, as a whole key would be. */
  get project(): string {
    this.check("PROJECT", projectIdProblem);
    return this.demand("PROJECT");
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
    if (isNew) printError(`A new store was made in ${visible(this.data)}.\n`);
    return result;
  }

  /** @throws {UsageError} where the store is a shared one, whose file is on another machine. */
  demandFolder(): void {
    if (this.kv === undefined) return;
    throw new UsageError(
      "This command works on the file of a store: name its folder with --data; a shared store has its file where it is kept",
    );
  }

  /** @throws {CommandError} where there is no store in a folder. */
  async demandStore(): Promise<void> {
    this.demandFolder();
    if (!await hasStore(this.data)) throw noStore(this.data);
  }

  /**
   * How far the work is, where there is a terminal, until it is disposed of. A signal that ends the program meanwhile
   * cleans up first.
   */
  workshop(cleanUp: () => void): Workshop {
    return new Workshop(this.#env, cleanUp);
  }

  /** Asks whether to go on, unless `--yes` is given. @throws {CommandError} unless the answer is yes. */
  confirm(question: string): void {
    if (!this.#values.has("yes")) confirm(question);
  }

  /** Prints the answer: as JSON in the form of the HTTP API where that is asked for, else lines for people. */
  answer(json: unknown, lines: readonly string[]): void {
    if (this.#values.has("json")) print(`${visibleJson(json)}\n`);
    else print(lines.map((line) => `${visible(line)}\n`).join(""));
  }

  /** The same with a table, or a sentence where it would be empty. */
  answerTable(
    json: unknown,
    headings: readonly string[],
    rows: readonly (readonly Cell[])[],
    ifEmpty: string,
  ): void {
    if (this.#values.has("json") || rows.length === 0) this.answer(json, [ifEmpty]);
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

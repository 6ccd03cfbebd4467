import { resolve } from "@std/path/resolve";
import { Administration } from "../../client/administration.ts";
import type { Connection } from "../../client/connection.ts";
import { KvdriveError, reworded } from "../../client/errors.ts";
import { isProjectId } from "../../rules/names.ts";
import { formatBytes } from "../../rules/units.ts";
import type { S3SecretKey } from "../../store/accounts/s3_secrets.ts";
import type { Store } from "../../store/store.ts";
import { kvOf, OptionValues, parseValue } from "../options/arguments.ts";
import type { Arguments } from "../options/command.ts";
import type { ValueType } from "../options/value_types.ts";
import { type Environment, print, printError, UsageError } from "../terminal/output.ts";
import { confirm, requireTerminal } from "../terminal/prompt.ts";
import {
  type Cell,
  printable,
  printableJson,
  quoteWord,
  styleFor,
  table,
} from "../terminal/text.ts";

/** What a call is told of its command. */
export interface CallSettings {
  /** Whether it asks for confirmation, as it destroys something. */
  asks?: true | undefined;
  /** Whether it creates the store if there is none. */
  makesStore?: true | undefined;
}

/**
 * The call of a command: its arguments, its output, and the server or the store that it works on. What opens these is
 * loaded by the calls that need it.
 */
export class CommandCall {
  /** The options, each of which may be an environment variable. */
  readonly values: OptionValues;

  /** @throws {UsageError} if it has to ask for confirmation, and there is no terminal. */
  constructor(
    readonly args: Arguments,
    readonly env: Environment,
    private readonly settings: CallSettings = {},
  ) {
    if (settings.asks && !args.has("yes")) requireTerminal(args.usage);
    this.values = new OptionValues([], args.options, env);
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

  /** The folder of a store on this machine. */
  get data(): string {
    return this.values.text("data") ?? "./data";
  }

  /** The URL of a shared store, in place of the folder. @throws {UsageError} if it is invalid. */
  get kv(): string | undefined {
    return kvOf(this.values);
  }

  /** Connects to the server for `work`. @throws {UsageError} if there is no key. */
  async withConnection<T>(work: (connection: Connection) => Promise<T>): Promise<T> {
    const { connect } = await import("./connect.ts");
    using connection = await connect(this.args, this.env);
    // A key without a project is refused before the first request.
    void connection.project;
    return await work(connection);
  }

  /**
   * Administers the server that the options, the environment or the profile name, else the store of this machine. `--data`,
   * `--kv` and `--s3-secret-file` are always for the store.
   */
  async administer<T>(work: (administration: Administration) => Promise<T>): Promise<T> {
    try {
      return await this.#administer((connection) => work(new Administration(connection)));
    } catch (error) {
      throw error instanceof KvdriveError ? this.#withoutSecrets(error) : error;
    }
  }

  async #administer<T>(work: (connection: Connection) => Promise<T>): Promise<T> {
    const { args, env } = this;
    const remote = ["url", "profile", "key-file"].find((name) => args.has(name));
    const local = ["data", "kv", "s3-secret-file"].find((name) => args.has(name));
    if (remote !== undefined && local !== undefined) {
      throw new UsageError(`The options --${remote} and --${local} exclude each other`);
    }
    const { chooseServer, connectTo } = await import("./connect.ts");
    const choice = local === undefined ? await chooseServer(args, env) : undefined;
    if (choice !== undefined && (!choice.isDefault || remote !== undefined)) {
      using connection = await connectTo(choice, args, env);
      return await work(connection);
    }
    const { connectToStore } = await import("./local_server.ts");
    return await this.withStore(async (store) => {
      using connection = await connectToStore(store, this.kv ?? resolve(this.data), env);
      return await work(connection);
    });
  }

  /** Hides a misplaced secret, which the server repeats as the name of what it does not have. */
  #withoutSecrets(error: KvdriveError): KvdriveError {
    const hidden = this.operands.reduce(
      (text, word) => text.replaceAll(`"${word}"`, quoteWord(word)),
      error.message,
    );
    return reworded(error, hidden);
  }

  /** Returns what encrypts the secrets of S3 keys. @throws {UsageError} if the environment's secret is invalid. */
  async s3SecretKey(): Promise<S3SecretKey> {
    const { s3SecretKeyOf } = await import("../options/s3_secret.ts");
    const s3SecretFile = this.values.text("s3-secret-file");
    return s3SecretKeyOf({ s3SecretFile, data: this.data, kv: this.kv }, this.env);
  }

  /** Opens the store for `work`. @throws {CommandError} if there is none, unless the command creates it. */
  async withStore<T>(work: (store: Store) => Promise<T>): Promise<T> {
    const { hasStore, noStore, withStore } = await import("./local_store.ts");
    const { data, kv } = this;
    const place = { data, kv, s3SecretKey: await this.s3SecretKey() };
    // A shared store exists, or cannot be opened.
    if (kv !== undefined) return await withStore(place, work);
    const isNew = !await hasStore(data);
    if (isNew && !this.settings.makesStore) throw noStore(data);
    const result = await withStore(place, work);
    if (isNew) printError(`Created a new store in ${printable(data)}.\n`);
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
    const { hasStore, noStore } = await import("./local_store.ts");
    if (!await hasStore(this.data)) throw noStore(this.data);
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

import { join, resolve } from "@std/path";
import { Connection } from "../../client/connection.ts";
import { RemoteDrives } from "../../client/remote_drives.ts";
import { Retrier } from "../../client/retrier.ts";
import { UploadStates } from "../../client/upload_states.ts";
import { failureReason } from "../../rules/system_error.ts";
import { parseValue } from "../options/arguments.ts";
import type { Arguments } from "../options/command.ts";
import { DURATION_OR_ZERO } from "../options/value_types.ts";
import { type Environment, print, UsageError } from "../terminal/output.ts";
import type { TransferProgress } from "../terminal/task_progress.ts";
import { printable, printableJson } from "../terminal/text.ts";
import { DEFAULT_RETRY_FOR, DEFAULT_URL } from "./defaults.ts";

/** A server and its drives. */
export interface Remote {
  connection: Connection;
  drives: RemoteDrives;
}

/** The call of a client command: its arguments, its connection and its output. */
export class ClientCall {
  readonly args: Arguments;
  readonly env: Environment;

  constructor(args: Arguments, env: Environment) {
    this.args = args;
    this.env = env;
  }

  /** The usage line of the command. */
  get usage(): string {
    return this.args.usage;
  }

  get operands(): readonly string[] {
    return this.args.operands;
  }

  /** Returns the value of an option, `name`, or of an operand, `NAME`; `undefined` if it is not given. */
  get(name: string): string | undefined {
    return this.args.get(name);
  }

  /** Reports whether a switch is on. */
  has(name: string): boolean {
    return this.args.has(name);
  }

  /** Returns a required operand. */
  operand(index: number): string {
    return this.operands[index] ?? "";
  }

  /** Connects to the server. @throws {UsageError} if there is no key. */
  async connect(view: TransferProgress): Promise<Remote> {
    const text = this.get("retry-for") ?? DEFAULT_RETRY_FOR;
    const retryFor = parseValue({ text, source: "--retry-for" }, DURATION_OR_ZERO);
    const key = await this.#key();
    const cacert = this.get("cacert");
    const connection = new Connection({
      url: this.get("url") ?? (this.env["KVDRIVE_URL"] || DEFAULT_URL),
      key,
      retrier: new Retrier({ retryFor, onWait: (sentence) => view.printNotice(sentence) }),
      ...(cacert === undefined ? {} : { authorities: await readAuthorities(cacert) }),
    });
    if (connection.isExposed) {
      view.printNotice(
        `Warning: the key is sent to ${connection.origin} unencrypted. Use https://`,
      );
    }
    return { connection, drives: new RemoteDrives(connection) };
  }

  /** Opens the states of interrupted uploads. */
  async states(): Promise<UploadStates> {
    const states = new UploadStates(stateFolder(this.env, Deno.build.os));
    await states.removeExpired();
    return states;
  }

  /** Prints a result: with `--json` as a line of JSON, else as a line of text, if there is one. */
  print(view: TransferProgress, json: unknown, line?: string): void {
    const text = this.has("json")
      ? printableJson(json)
      : line === undefined
      ? line
      : printable(line);
    if (text !== undefined) view.bar.printAbove(() => print(`${text}\n`));
  }

  async #key(): Promise<string> {
    const file = this.get("key-file");
    const key = file === undefined
      ? this.env["KVDRIVE_KEY"] ?? ""
      : (await readOptionFile("--key-file", file)).trim();
    if (key !== "") return key;
    throw new UsageError(
      "No project key: set the variable KVDRIVE_KEY, or give a file that contains it with --key-file",
    );
  }
}

/** Returns the folder of upload states on an operating system; `undefined` if the environment does not say. */
export function stateFolder(env: Environment, system: typeof Deno.build.os): string | undefined {
  const home = env["HOME"] || undefined;
  const inHome = (...path: string[]) => home && join(home, ...path);
  const base = system === "windows" ? env["LOCALAPPDATA"] || undefined : env["XDG_STATE_HOME"] ||
    (system === "darwin" ? inHome("Library", "Application Support") : inHome(".local", "state"));
  return base && join(base, "kvdrive", "uploads");
}

async function readAuthorities(path: string): Promise<string> {
  const text = await readOptionFile("--cacert", path);
  if (/-----BEGIN (TRUSTED )?CERTIFICATE-----/.test(text)) return text;
  throw new UsageError(`The file of --cacert, ${path}, has no certificate in PEM`);
}

async function readOptionFile(option: string, path: string): Promise<string> {
  try {
    return await Deno.readTextFile(resolve(path));
  } catch (error) {
    const reason = failureReason(error);
    throw new UsageError(`Cannot read ${path}, the file of ${option}: ${reason}`, { cause: error });
  }
}

import { join, resolve } from "@std/path";
import { Connection } from "../../client/connection.ts";
import { RemoteDrives } from "../../client/remote_drives.ts";
import { Retrier } from "../../client/retrier.ts";
import { UploadStates } from "../../client/upload_states.ts";
import { driveNameProblem, fileNameProblem } from "../../rules/names.ts";
import { failureReason } from "../../rules/system_error.ts";
import { type Command, type OptionSpec, parseFlags, parseValue } from "../options/arguments.ts";
import { DURATION_OR_ZERO } from "../options/value_types.ts";
import { type Environment, print, UsageError } from "../terminal/output.ts";
import type { TransferProgress } from "../terminal/task_progress.ts";
import { printable, printableJson, quoteWord } from "../terminal/text.ts";

const DEFAULT_URL = "http://127.0.0.1:8000";

const DEFAULT_RETRY_FOR = "5m";

/** Options of every command that talks to a server. */
const CLIENT_OPTIONS: readonly OptionSpec[] = [
  {
    name: "url",
    value: "URL",
    help: "address of the server",
    variable: "KVDRIVE_URL",
    default: DEFAULT_URL,
  },
  {
    name: "key-file",
    value: "FILE",
    help: "file with the project key",
    unset: "the key in KVDRIVE_KEY",
  },
  { name: "cacert", value: "FILE", help: "certificates of further authorities to trust, in PEM" },
  {
    name: "retry-for",
    value: "TIME",
    help: "how long failed requests are repeated; 0 for never",
    default: DEFAULT_RETRY_FOR,
  },
  { name: "json", help: "print results as JSON, one object per line" },
];

/** The option that names the drive of every operand. */
export const DRIVE_OPTION: OptionSpec = {
  name: "drive",
  value: "DRIVE",
  help: "the drive; NAME is then written without DRIVE:",
};

/** A command that works with the files of a server's drives. */
export interface ClientCommand {
  name: string;
  /** The operands, as the help shows them. */
  operands: string;
  /** The number of operands. */
  count: readonly [min: number, max: number];
  options?: readonly OptionSpec[];
  summary: string;
  run(call: ClientCall): Promise<void>;
}

/** Returns a client command as a command of the program. */
export function clientCommand(command: ClientCommand): Command {
  const { name, summary, operands, count: [min, max], options = [] } = command;
  const specs = [...options, ...CLIENT_OPTIONS];
  const flags = options.map(({ name, value }) => value ? `[--${name} ${value}]` : `[--${name}]`);
  const usage = ["kvdrive", name, operands, ...flags].filter((word) => word !== "").join(" ");
  return {
    name,
    usage,
    summary,
    options: specs,
    async run(args, env) {
      const advice = `usage: ${usage}`;
      const { options, operands } = parseFlags(specs, args, advice);
      if (operands.length < min) throw new UsageError(`Too few arguments: ${advice}`);
      if (operands.length > max) throw new UsageError(`Too many arguments: ${advice}`);
      await command.run(new ClientCall(usage, options, operands, env));
    },
  };
}

/** A server and its drives. */
export interface Remote {
  connection: Connection;
  drives: RemoteDrives;
}

/** The call of a client command: its arguments, its connection and its output. */
export class ClientCall {
  readonly usage: string;
  readonly operands: readonly string[];
  readonly env: Environment;
  readonly #values: ReadonlyMap<string, string>;

  constructor(
    usage: string,
    values: ReadonlyMap<string, string>,
    operands: readonly string[],
    env: Environment,
  ) {
    this.usage = usage;
    this.#values = values;
    this.operands = operands;
    this.env = env;
  }

  /** Returns the value of an option; `undefined` if it is not given. */
  get(name: string): string | undefined {
    return this.#values.get(name);
  }

  /** Reports whether a switch is on. */
  has(name: string): boolean {
    return this.#values.has(name);
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

/** A file or a folder of a drive. */
export interface DrivePath {
  drive: string;
  /** A file's name; that of a folder ends with a slash, and that of the whole drive is empty. */
  name: string;
}

/**
 * Parses `DRIVE:NAME`, which the first colon separates. With `drive`, as from `--drive`, all of the text is the name.
 *
 * @throws {UsageError} if a name is invalid.
 */
export function parseDrivePath(text: string, drive: string | undefined): DrivePath {
  const at = text.indexOf(":");
  if (drive === undefined && at === -1) {
    throw new UsageError(
      `Bad value ${
        quoteWord(text)
      }: write DRIVE:NAME, such as photos:cat.jpg, or DRIVE: for the whole drive`,
    );
  }
  const path = drive === undefined
    ? { drive: text.slice(0, at), name: text.slice(at + 1) }
    : { drive, name: text };
  requireDriveName(path.drive);
  const problem = isFolder(path) ? undefined : fileNameProblem(path.name);
  if (problem !== undefined) throw new UsageError(`The file name ${problem}`);
  return path;
}

/** @throws {UsageError} if a drive's name is invalid. */
export function requireDriveName(drive: string): void {
  const problem = driveNameProblem(drive);
  if (problem !== undefined) throw new UsageError(`The drive name ${problem}`);
}

/** Reports whether a path is a folder, or the whole drive. */
export function isFolder({ name }: DrivePath): boolean {
  return name === "" || name.endsWith("/");
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

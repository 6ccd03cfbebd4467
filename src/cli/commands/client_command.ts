import { join, resolve } from "@std/path";
import { Connection } from "../../client/connection.ts";
import { RemoteDrives } from "../../client/remote_drives.ts";
import { DEFAULT_RETRY_TIME, Retrier } from "../../client/retrier.ts";
import { UploadStates } from "../../client/upload_states.ts";
import { driveNameProblem, fileNameProblem } from "../../rules/names.ts";
import { failureReason } from "../../rules/system_error.ts";
import { parseDuration } from "../../rules/units.ts";
import { type Command, type OptionSpec, parseFlags } from "../options/arguments.ts";
import { UsageError } from "../terminal/errors.ts";
import { type Environment, print } from "../terminal/output.ts";
import { TransferProgress } from "../terminal/task_progress.ts";
import { printable, printableJson, quoteWord } from "../terminal/text.ts";

/** Where this system keeps what a program remembers between two runs; `undefined` where nobody says. */
export function stateFolder(env: Environment, system: typeof Deno.build.os): string | undefined {
  const home = env["HOME"] || undefined;
  const inHome = (...path: string[]) => home && join(home, ...path);
  const base = system === "windows" ? env["LOCALAPPDATA"] || undefined : env["XDG_STATE_HOME"] ||
    (system === "darwin" ? inHome("Library", "Application Support") : inHome(".local", "state"));
  return base && join(base, "kvdrive", "uploads");
}

/** Where a server is unless somebody says. */
const DEFAULT_URL = "http://127.0.0.1:8000";

const CLIENT_OPTIONS: readonly OptionSpec[] = [
  { name: "url", value: "URL", help: `address of the server (KVDRIVE_URL, else ${DEFAULT_URL})` },
  { name: "key-file", value: "FILE", help: "file with the project key (else KVDRIVE_KEY)" },
  { name: "cacert", value: "FILE", help: "certificates of authorities to believe, in PEM" },
  { name: "retry-for", value: "TIME", help: "how long to try again what fails (5m)" },
  { name: "json", help: "print what happened as JSON, one object a line" },
];

/** A command that works with files of drives. */
export interface ClientCommand {
  name: string;
  /** What stands behind its name, as the help shows it. */
  operands: string;
  /** How many words that are at least and at the most. */
  count: readonly [min: number, max: number];
  options?: readonly OptionSpec[];
  summary: string;
  run(call: ClientCall): Promise<void>;
}

/** Makes a command of the program of one that works with files of drives. */
export function clientCommand(command: ClientCommand): Command {
  const { name, summary, operands, count: [min, max], options = [] } = command;
  const specs = [...options, ...CLIENT_OPTIONS];
  const flags = options.map(({ name, value }) => value ? `[--${name} ${value}]` : `[--${name}]`);
  const form = ["kvdrive", name, operands, ...flags].filter((word) => word !== "").join(" ");
  return {
    name,
    form,
    summary,
    options: specs,
    async run(args, env) {
      const advice = `the form is ${form}`;
      const { options, operands } = parseFlags(specs, args, advice);
      if (operands.length < min) throw new UsageError(`Something is missing: ${advice}`);
      if (operands.length > max) throw new UsageError(`There are too many words: ${advice}`);
      await command.run(new ClientCall(form, options, operands, env));
    },
  };
}

/** Such a command as it was typed. */
export class ClientCall {
  readonly form: string;
  readonly operands: readonly string[];
  readonly env: Environment;
  readonly #values: ReadonlyMap<string, string>;

  constructor(
    form: string,
    values: ReadonlyMap<string, string>,
    operands: readonly string[],
    env: Environment,
  ) {
    this.form = form;
    this.#values = values;
    this.operands = operands;
    this.env = env;
  }

  get(name: string): string | undefined {
    return this.#values.get(name);
  }

  /** Whether a switch is on. */
  has(name: string): boolean {
    return this.#values.has(name);
  }

  /** A word that has to be there. */
  operand(index: number): string {
    return this.operands[index] ?? "";
  }

  /** Connects to the server. @throws {UsageError} where nobody says with which key. */
  async connect(view: TransferProgress): Promise<Remote> {
    const patience = this.#patience();
    const key = await this.#key();
    const cacert = this.get("cacert");
    const connection = new Connection({
      url: this.get("url") ?? (this.env["KVDRIVE_URL"] || DEFAULT_URL),
      key,
      retrier: new Retrier({ retryFor: patience, onWait: (sentence) => view.say(sentence) }),
      ...(cacert === undefined ? {} : { authorities: await readAuthorities(cacert) }),
    });
    if (connection.isExposed) {
      view.say(`The key goes to ${connection.origin} unencrypted: others on the way can read it`);
    }
    return { connection, drives: new RemoteDrives(connection) };
  }

  /** What was interrupted before. */
  async states(): Promise<UploadStates> {
    const states = new UploadStates(stateFolder(this.env, Deno.build.os));
    await states.removeExpired();
    return states;
  }

  /** Prints a result: an object of its own line as JSON where that is asked for, else a line for people, if any. */
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
      : (await readOption("--key-file", file)).trim();
    if (key !== "") return key;
    throw new UsageError(
      "There is no project key: put it into the variable KVDRIVE_KEY, or name a file that has it with --key-file",
    );
  }

  #patience(): number {
    const text = this.get("retry-for");
    if (text === undefined) return DEFAULT_RETRY_TIME;
    const time = text === "0" ? 0 : parseDuration(text);
    if (time === undefined) {
      throw new UsageError(
        `Bad value ${quoteWord(text)} of --retry-for: it must be a time like 30s or 5m, or 0`,
      );
    }
    return time;
  }
}

/** A server and its drives. */
export interface Remote {
  connection: Connection;
  drives: RemoteDrives;
}

async function readAuthorities(path: string): Promise<string> {
  const text = await readOption("--cacert", path);
  if (/-----BEGIN (TRUSTED )?CERTIFICATE-----/.test(text)) return text;
  throw new UsageError(`The file of --cacert, ${path}, holds no certificate in PEM`);
}

async function readOption(option: string, path: string): Promise<string> {
  try {
    return await Deno.readTextFile(resolve(path));
  } catch (error) {
    const reason = failureReason(error);
    throw new UsageError(`Cannot read ${path}, the file of ${option}: ${reason}`, { cause: error });
  }
}

/** A file or a folder of a drive as a command line names it. */
export interface DrivePath {
  drive: string;
  /** A file's name; of a folder it ends with a slash, and is empty for the whole drive. */
  name: string;
}

/**
 * Reads `DRIVE:NAME`: the first colon ends the drive. Where the drive is named by `--drive`, all of it is the name.
 *
 * @throws {UsageError}
 */
export function parseDrivePath(text: string, drive: string | undefined): DrivePath {
  const at = text.indexOf(":");
  if (drive === undefined && at === -1) {
    throw new UsageError(
      `${
        quoteWord(text)
      } names no place in a drive: write DRIVE:NAME, such as photos:cat.jpg, or DRIVE: for all of it`,
    );
  }
  const place = drive === undefined
    ? { drive: text.slice(0, at), name: text.slice(at + 1) }
    : { drive, name: text };
  requireDriveName(place.drive);
  const isFolder = place.name === "" || place.name.endsWith("/");
  const problem = isFolder ? undefined : fileNameProblem(place.name);
  if (problem !== undefined) throw new UsageError(`The file name ${problem}`);
  return place;
}

/** @throws {UsageError} where there can be no such drive. */
export function requireDriveName(drive: string): void {
  const problem = driveNameProblem(drive);
  if (problem !== undefined) throw new UsageError(`The drive name ${problem}`);
}

/** Whether a place is a folder of a drive, or all of it. */
export function isFolder({ name }: DrivePath): boolean {
  return name === "" || name.endsWith("/");
}

import { join } from "@std/path/join";
import type { Connection } from "../../client/connection.ts";
import { RemoteDrives } from "../../client/remote_drives.ts";
import { UploadStates } from "../../client/upload_states.ts";
import type { Arguments } from "../options/command.ts";
import { type Environment, print, printError } from "../terminal/output.ts";
import type { TransferProgress } from "../terminal/task_progress.ts";
import { printable, printableJson } from "../terminal/text.ts";
import { connect } from "./connect.ts";

/** A server and its drives. */
export interface Remote {
  connection: Connection;
  drives: RemoteDrives;
}

/** The call of a client command: its arguments, its connection and its output. */
export class ClientCall {

  constructor(
    readonly args: Arguments,
    readonly env: Environment,
  ) {}

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
    const connection = await connect(this.args, this.env, {
      printNotice: (sentence) => view.printNotice(sentence),
      printLine: (line) => view.bar.printAbove(() => printError(line)),
    });
    // A key without a project is refused before the first file.
    void connection.project;
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
}

/** Returns the folder of upload states on an operating system; `undefined` if the environment does not say. */
export function stateFolder(env: Environment, system: typeof Deno.build.os): string | undefined {
  const home = env["HOME"] || undefined;
  const inHome = (...path: string[]) => home && join(home, ...path);
  const base = system === "windows" ? env["LOCALAPPDATA"] || undefined : env["XDG_STATE_HOME"] ||
    (system === "darwin" ? inHome("Library", "Application Support") : inHome(".local", "state"));
  return base && join(base, "kvdrive", "uploads");
}

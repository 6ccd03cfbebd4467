import { join } from "@std/path/join";
import type { Connection } from "../../client/connection.ts";
import { RemoteDrives } from "../../client/remote_drives.ts";
import { UploadStates } from "../../client/upload_states.ts";
import type { Environment } from "../terminal/output.ts";
import { TransferProgress } from "../terminal/task_progress.ts";
import type { CommandCall } from "./command_call.ts";
import { connect } from "./connect.ts";

/** Opens the states of interrupted uploads. */
export async function openStates(env: Environment): Promise<UploadStates> {
  const states = new UploadStates(stateFolder(env, Deno.build.os));
  await states.removeExpired();
  return states;
}

/** A connection to a server, and the progress that is shown meanwhile. */
export class Session implements Disposable {
  readonly drives: RemoteDrives;

  constructor(
    readonly call: CommandCall,
    readonly view: TransferProgress,
    readonly connection: Connection,
  ) {
    this.drives = new RemoteDrives(connection);
  }

  /** Connects to the server. @throws {UsageError} if there is no key. */
  static async open(call: CommandCall, view = new TransferProgress(call.env)): Promise<Session> {
    const connection = await connect(call.args, call.env, view);
    // A key without a project is refused before the first file.
    void connection.project;
    return new Session(call, view, connection);
  }

  /** Prints a result: with `--json` as a line of JSON, else as a line of text, if there is one. */
  print(json: unknown, line?: string): void {
    if (!this.call.has("json") && line === undefined) return;
    this.view.bar.printAbove(() => this.call.print(json, [line ?? ""]));
  }

  [Symbol.dispose](): void {
    this.view[Symbol.dispose]();
    this.connection[Symbol.dispose]();
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

import { join } from "@std/path/join";
import type { Connection } from "../../client/connection.ts";
import { RemoteDrives } from "../../client/drives.ts";
import { UploadStates } from "../../client/upload.ts";
import { CommandError, type Environment, UsageError } from "../terminal/output.ts";
import { TransferProgress } from "../terminal/task_progress.ts";
import type { CommandCall } from "./command_call.ts";
import { connect } from "./connect.ts";
import { TransferReport } from "../../client/transfers.ts";
import { NameFilter } from "../../rules/globs.ts";
import type { ValueType } from "../options/value_types.ts";
import { plural } from "../terminal/text.ts";
import { DEFAULT_CONCURRENCY } from "./defaults.ts";

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

/** The most files in transfer at once: each may hold 10 MB. */
const MAX_CONCURRENCY = 256;

const CONCURRENCY: ValueType<number> = {
  parse(text) {
    const count = /^\d{1,4}$/.test(text) ? Number(text) : 0;
    return count >= 1 && count <= MAX_CONCURRENCY ? count : undefined;
  },
  expected: `a whole number from 1 to ${MAX_CONCURRENCY}`,
};

/** The call of a command that transfers files: its settings, its connection and its report. */
export class TransferSession extends Session {
  readonly report: TransferReport;
  readonly isDryRun: boolean;

  private constructor(
    { call, view, connection }: Session,
    readonly filter: NameFilter,
    readonly concurrency: number,
  ) {
    super(call, view, connection);
    this.isDryRun = call.has("dry-run");
    this.report = this.newReport();
  }

  /** Connects to the server. @throws {UsageError} if an option is invalid. */
  static override async open(call: CommandCall): Promise<TransferSession> {
    const concurrency = call.parsed("concurrency", CONCURRENCY) ?? DEFAULT_CONCURRENCY;
    const filter = filterOf(call);
    return new TransferSession(await Session.open(call), filter, concurrency);
  }

  /** Returns a report that shows its remarks, with `--json` as results. */
  newReport(): TransferReport {
    const { events } = this.view;
    return new TransferReport({
      ...events,
      onRemark: (kind, remark) => {
        events.onRemark(kind, remark);
        const { drive, name, reason } = remark;
        this.print({ drive, name, [kind]: reason });
      },
    });
  }

  /** Prints the result for one file: a line of JSON, or in a dry run of text. */
  printFile(json: Record<string, unknown>, line: string | undefined): void {
    this.print(this.isDryRun ? { ...json, dry_run: true } : json, this.isDryRun ? line : undefined);
  }

  /** Prints the last line of text. */
  printSummary(line: string): void {
    this.view.bar.clear();
    if (!this.call.has("json")) this.print({}, line);
  }

  /** @throws {CommandError} unless all was transferred that was to be. @param verb What could not be done: "send". */
  requireSuccess(verb: string): void {
    const problem = problemOf(this.report, verb);
    if (problem !== undefined) throw new CommandError(problem);
  }
}

/** Returns what keeps a transfer from being complete. @param verb What could not be done: "send". */
export function problemOf({ failed, leftOut }: TransferReport, verb: string): string | undefined {
  if (failed.length > 0) return `Cannot ${verb} ${plural(failed.length, "file")}: see above`;
  if (leftOut === 0) return undefined;
  return `Cannot ${verb} ${
    plural(leftOut, "skipped file")
  }: see above. Rename them, or leave them out with --exclude`;
}

/** Returns the filter of `--include` and `--exclude`. */
export function filterOf(call: CommandCall): NameFilter {
  const [include, exclude] = [call.args.all("include"), call.args.all("exclude")];
  const bad = [...include, ...exclude].find((pattern) => /^\/*$/.test(pattern));
  if (bad !== undefined) throw new UsageError(`Bad pattern "${bad}": it matches no name`);
  return new NameFilter({ include, exclude });
}

import { RemoteChanges } from "../../../client/sync/remote_changes.ts";
import type { RemoteDrives } from "../../../client/remote_drives.ts";
import { TransferReport } from "../../../client/transfers.ts";
import { NameFilter } from "../../../rules/transfer/globs.ts";
import { parseValue } from "../../options/arguments.ts";
import type { ValueType } from "../../options/value_types.ts";
import { CommandError, UsageError } from "../../terminal/output.ts";
import { TransferProgress } from "../../terminal/task_progress.ts";
import { plural } from "../../terminal/text.ts";
import type { ClientCall } from "../client_call.ts";
import { DEFAULT_CONCURRENCY } from "./options.ts";

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
export class TransferCall implements Disposable {
  readonly call: ClientCall;
  readonly view: TransferProgress;
  readonly drives: RemoteDrives;
  readonly changes: RemoteChanges;
  readonly report: TransferReport;
  readonly filter: NameFilter;
  readonly concurrency: number;
  readonly isDryRun: boolean;
  readonly #connection: Disposable;

  private constructor(
    call: ClientCall,
    view: TransferProgress,
    { drives, changes, connection }: {
      drives: RemoteDrives;
      changes: RemoteChanges;
      connection: Disposable;
    },
    { filter, concurrency }: { filter: NameFilter; concurrency: number },
  ) {
    this.call = call;
    this.view = view;
    this.drives = drives;
    this.changes = changes;
    this.#connection = connection;
    this.report = new TransferReport(view.events);
    this.filter = filter;
    this.concurrency = concurrency;
    this.isDryRun = call.has("dry-run");
  }

  /** Connects to the server. @throws {UsageError} if an option is invalid. */
  static async open(call: ClientCall): Promise<TransferCall> {
    const text = call.get("concurrency") ?? DEFAULT_CONCURRENCY;
    const concurrency = parseValue({ text, source: "--concurrency" }, CONCURRENCY);
    const filter = filterOf(call);
    const view = new TransferProgress(call.env);
    try {
      const { connection, drives } = await call.connect(view);
      const changes = new RemoteChanges(connection);
      const remote = { drives, changes, connection };
      return new TransferCall(call, view, remote, { filter, concurrency });
    } catch (error) {
      view[Symbol.dispose]();
      throw error;
    }
  }

  /** Prints the result for one file: a line of JSON, or in a dry run of text. */
  print(json: Record<string, unknown>, line: string): void {
    const shown = this.isDryRun ? { ...json, dry_run: true } : json;
    this.call.print(this.view, shown, this.isDryRun ? line : undefined);
  }

  /** Prints the last line of text. */
  printSummary(line: string): void {
    this.view.bar.clear();
    if (!this.call.has("json")) this.call.print(this.view, {}, line);
  }

  /** Skips a file as the user wants it. */
  skip(drive: string, name: string, reason: string): void {
    this.report.skip(drive, name, reason);
    this.#printSkipped(drive, name, reason);
  }

  /** Skips a file that cannot be transferred, such as a link. */
  leaveOut(drive: string, name: string, reason: string): void {
    this.report.leaveOut(drive, name, reason);
    this.#printSkipped(drive, name, reason);
  }

  #printSkipped(drive: string, name: string, reason: string): void {
    if (this.call.has("json")) this.call.print(this.view, { drive, name, skipped: reason });
  }

  fail(drive: string, name: string, error: unknown): void {
    this.report.fail(drive, name, error);
    const failed = error instanceof Error ? error.message : String(error);
    if (this.call.has("json")) this.call.print(this.view, { drive, name, failed });
  }

  /** @throws {CommandError} unless all was transferred that was to be. @param verb What could not be done: "send". */
  requireSuccess(verb: string): void {
    const problem = problemOf(this.report, verb);
    if (problem !== undefined) throw new CommandError(problem);
  }

  [Symbol.dispose](): void {
    this.view[Symbol.dispose]();
    this.#connection[Symbol.dispose]();
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
export function filterOf(call: ClientCall): NameFilter {
  const [include, exclude] = [call.args.all("include"), call.args.all("exclude")];
  const bad = [...include, ...exclude].find((pattern) => /^\/*$/.test(pattern));
  if (bad !== undefined) throw new UsageError(`Bad pattern "${bad}": it matches no name`);
  return new NameFilter({ include, exclude });
}

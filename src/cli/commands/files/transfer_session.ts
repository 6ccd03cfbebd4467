import { TransferReport } from "../../../client/transfers.ts";
import { NameFilter } from "../../../rules/transfer/globs.ts";
import type { ValueType } from "../../options/value_types.ts";
import { CommandError, UsageError } from "../../terminal/output.ts";
import { plural } from "../../terminal/text.ts";
import type { CommandCall } from "../command_call.ts";
import { Session } from "../session.ts";
import { DEFAULT_CONCURRENCY } from "../defaults.ts";

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

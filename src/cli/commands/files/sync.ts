import { resolve } from "@std/path/resolve";
import { ClientError } from "../../../client/errors.ts";
import { CopySides, DownloadSides, UploadSides } from "../../../client/sync/sides.ts";
import {
  type Change,
  synchronize,
  type SyncResult,
  type SyncSides,
} from "../../../client/sync/sync.ts";
import type { RemoteFolder } from "../../../client/sync/tree.ts";
import { driveSource, folderSource, watch } from "../../../client/sync/watch.ts";
import { TransferReport } from "../../../client/transfers.ts";
import type { UploadStates } from "../../../client/upload.ts";
import { LOCAL_FILE_SYSTEM } from "../../../rules/archive/local_paths.ts";
import { formatBytes } from "../../../rules/units.ts";
import { CommandError, UsageError } from "../../terminal/output.ts";
import { plural } from "../../terminal/text.ts";
import type { CommandCall } from "../command_call.ts";
import { openStates, problemOf, TransferSession } from "../session.ts";
import { isFolder, isRemote, parseTarget } from "../drive_path.ts";

/** The two folders of a synchronisation: a string is a path of this machine. */
interface Ends {
  source: string | RemoteFolder;
  target: string | RemoteFolder;
}

/** `kvdrive sync`: makes a folder like another one. */
export async function syncFolders(call: CommandCall): Promise<void> {
  const ends = { source: placeOf(call.operand(0)), target: placeOf(call.operand(1)) };
  if (typeof ends.source === "string" && typeof ends.target === "string") {
    throw new UsageError(
      "Source and target are both on this machine: write one of them as DRIVE:FOLDER/",
    );
  }
  if (call.has("watch") && call.has("dry-run")) {
    throw new UsageError("--watch and --dry-run exclude each other");
  }
  using transfer = await TransferSession.open(call);
  const run = new SyncRun(transfer, ends, await openStates(call.env));
  if (!call.has("watch")) return await run.once();
  const notice = (sentence: string) => transfer.view.printNotice(sentence);
  await watch({
    source: typeof ends.source === "string"
      ? folderSource(resolve(ends.source), notice)
      : driveSource(transfer.drives, ends.source),
    pass: () => run.pass(),
    onFailure: (error) => notice(`${error.message}. Still watching`),
  });
}

/** Parses an end. What is no `DRIVE:` is a path. */
function placeOf(text: string): string | RemoteFolder {
  if (!isRemote(text)) return text;
  // A whole folder is meant, with the slash or without.
  const { drive, name } = parseTarget(text, undefined);
  return { drive, prefix: isFolder({ drive, name }) ? name : `${name}/` };
}

class SyncRun {
  constructor(
    private readonly transfer: TransferSession,
    private readonly ends: Ends,
    private readonly states: UploadStates,
  ) {}

  /** Synchronises once. @throws {CommandError} if something is not the same then. */
  async once(): Promise<void> {
    const { report } = this.transfer;
    const result = await this.#synchronize(report);
    this.transfer.printSummary(this.#summaryOf(report, result));
    const { source } = this.ends;
    const found = report.done + report.unchanged + report.skipped.length + report.failed.length;
    if (typeof source !== "string" && found === 0) {
      // A drive or folder that does not exist is one without files.
      this.transfer.view.printNotice(`There are no files in ${source.drive}:${source.prefix}`);
    }
    const problem = result.kept ?? problemOf(report, "transfer");
    if (problem !== undefined) throw new CommandError(problem);
  }

  /** Synchronises as a part of watching, which prints what was done, if anything. */
  async pass(): Promise<void> {
    const report = this.transfer.newReport();
    const result = await this.#synchronize(report);
    if (report.done + report.folders + result.deleted > 0) {
      this.transfer.printSummary(this.#summaryOf(report, result));
    }
    this.transfer.view.bar.clear();
    const problem = result.kept ?? problemOf(report, "transfer");
    if (problem !== undefined) throw new ClientError(problem);
  }

  async #synchronize(report: TransferReport): Promise<SyncResult> {
    const { call, isDryRun, concurrency } = this.transfer;
    return await synchronize(await this.#sides(), report, {
      deletes: call.has("delete"),
      allowsEmpty: call.has("yes"),
      comparesBytes: call.has("checksum"),
      isDryRun,
      concurrency,
      onChange: (change) => this.#print(change),
    });
  }

  async #sides(): Promise<SyncSides> {
    const { source, target } = this.ends;
    const { drives, filter, isDryRun, concurrency } = this.transfer;
    if (typeof source === "string" && typeof target !== "string") {
      const options = { filter, states: this.states, concurrency };
      return await UploadSides.open(source, target, drives, options);
    }
    if (typeof source !== "string" && typeof target === "string") {
      const options = { filter, system: LOCAL_FILE_SYSTEM, creates: !isDryRun };
      return await DownloadSides.open(source, target, drives, options);
    }
    if (typeof source === "string" || typeof target === "string") {
      throw new TypeError("The command has checked its ends");
    }
    return new CopySides(source, target, drives, filter);
  }

  #print({ kind, name, size }: Change): void {
    const { source, target } = this.ends;
    const place = typeof target === "string" ? source : target;
    const drive = typeof place === "string" ? "" : place.drive;
    const verb = { sent: "transfer", created: "create", deleted: "delete" }[kind];
    const bytes = size === undefined ? "" : ` (${formatBytes(size)})`;
    const line = `Would ${verb} ${drive}:${name}${bytes}`;
    this.transfer.printFile(
      { drive, name, change: kind, ...(size === undefined ? {} : { size }) },
      line,
    );
  }

  #summaryOf(report: TransferReport, { deleted }: SyncResult): string {
    const { isDryRun } = this.transfer;
    const parts = [
      `${isDryRun ? "Would transfer" : "Transferred"} ${plural(report.done, "file")} (${
        formatBytes(report.bytes)
      })`,
      `${plural(report.unchanged, "file")} up to date`,
      ...(deleted === 0 ? [] : [`${deleted} ${isDryRun ? "to delete" : "deleted"}`]),
      ...(report.skipped.length === 0 ? [] : [`${report.skipped.length} skipped`]),
    ];
    return parts.join("; ");
  }
}

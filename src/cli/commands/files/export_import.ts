import { resolve } from "@std/path/resolve";
import { exportDrives, ZipTarget } from "../../../client/archive/export.ts";
import { FolderSource, FolderTarget } from "../../../client/archive/folder.ts";
import { importDrives } from "../../../client/archive/import.ts";
import { ZipSource } from "../../../client/archive/zip_import.ts";
import type { DriveInfo } from "../../../client/drives.ts";
import { statIfExists } from "../../../client/local_files.ts";
import { EXPORT_FILE_SYSTEM } from "../../../rules/archive/local_paths.ts";
import { TransferReport } from "../../../client/transfers.ts";
import { formatBytes } from "../../../rules/units.ts";
import { CommandError, UsageError } from "../../terminal/output.ts";
import { TransferProgress } from "../../terminal/task_progress.ts";
import { plural } from "../../terminal/text.ts";
import { type CommandCall, projectIdProblem } from "../command_call.ts";
import { openStates, problemOf, Session } from "../session.ts";
import { requireDriveName } from "../drive_path.ts";

export async function runExport(call: CommandCall): Promise<void> {
  const path = call.operand(0);
  const isZip = await isNewArchive(path);
  await runTransfer(call, async ({ drives, view }, report) => {
    const drive = call.get("drive");
    const chosen = drive === undefined
      ? await Array.fromAsync(drives.listDrives())
      : [await drives.require(drive)];
    view.setTotal(totalOf(chosen));
    const force = call.has("force");
    using target = isZip
      ? await ZipTarget.open(drives, path, { force })
      : await FolderTarget.open(drives, { folder: path, force, system: EXPORT_FILE_SYSTEM });
    await exportDrives(drives, target, chosen, report);
  });
}

export async function runImport(call: CommandCall): Promise<void> {
  const path = call.operand(0);
  await runTransfer(call, async ({ drives, view }, report) => {
    const states = await openStates(call.env);
    const drive = call.get("drive");
    const isFolder = (await statIfExists(path))?.isDirectory ?? !/\.zip$/i.test(path);
    const source = isFolder ? await FolderSource.open(path) : await ZipSource.open(path);
    using _archive = source instanceof ZipSource ? source : undefined;
    if (drive === undefined) view.setTotal(source.bytes);
    const options = { force: call.has("force"), states, ...(drive === undefined ? {} : { drive }) };
    await importDrives(drives, source, report, options);
  });
}

type Work = (session: Session, report: TransferReport) => Promise<void>;

/** Runs `work` with the drives of a server, or with `--data` those of a store, and prints the report. */
async function runTransfer(call: CommandCall, work: Work): Promise<void> {
  const drive = call.get("drive");
  if (drive !== undefined) requireDriveName(drive);
  call.validate("project", projectIdProblem);
  const runIn = async (session: Session) => {
    const report = new TransferReport(session.view.events);
    await work(session, report);
    printReport(session, report);
  };
  const data = call.get("data");
  const project = call.get("project");
  if (data === undefined) {
    using session = await Session.open(call);
    return await runIn(session);
  }
  const { connectToStore } = await import("../local_server.ts");
  const { hasStore, noStore, withStore } = await import("../local_store.ts");
  if (!await hasStore(data)) throw noStore(data);
  await withStore({ data, kv: undefined }, async (store) => {
    const [only, second] = project === undefined ? await store.projects.list() : [];
    const id = project ?? (second === undefined ? only?.project : undefined);
    if (id === undefined) {
      throw new UsageError("Choose the project with --project: see kvdrive project list");
    }
    const connection = await connectToStore(store, resolve(data), call.env, { project: id });
    using session = new Session(call, new TransferProgress(call.env), connection);
    await runIn(session);
  });
}

/** The size of drives; `undefined` if the key may not know it. */
function totalOf(drives: readonly DriveInfo[]): number | undefined {
  let total = 0;
  for (const { bytes } of drives) {
    if (bytes === null) return undefined;
    total += bytes;
  }
  return total;
}

/**
 * Reports whether an export goes to an archive: its name ends with ".zip".
 *
 * @throws {UsageError} for the name of another kind of file. A folder of such a name exists, or is given with a slash.
 */
async function isNewArchive(path: string): Promise<boolean> {
  const there = await statIfExists(path);
  if (there?.isDirectory) return false;
  if (/\.zip$/i.test(path)) return true;
  if (there === undefined && !/\.[a-z][a-z0-9]{0,4}$/i.test(path)) return false;
  throw new UsageError(
    `Cannot export to ${path}: give a folder, or an archive whose name ends with .zip. Write ${path}/ for a folder of this name`,
  );
}

/** Prints the result. @throws {CommandError} if a file failed. */
function printReport({ view, call }: Session, report: TransferReport): void {
  const { done, bytes, unchanged, folders, skipped, failed } = report;
  const parts = [
    `Copied ${plural(done, "file")} (${formatBytes(bytes)})`,
    ...(folders === 0 ? [] : [plural(folders, "folder")]),
    ...(unchanged === 0 ? [] : [`${unchanged} up to date`]),
    ...(skipped.length === 0 ? [] : [`${skipped.length} skipped`]),
    ...(failed.length === 0 ? [] : [`${failed.length} failed`]),
  ];
  view.bar.clear();
  call.print({ copied: done, bytes, unchanged, folders, skipped, failed }, [parts.join(", ")]);
  const problem = problemOf(report, "copy");
  if (problem !== undefined) throw new CommandError(problem);
}

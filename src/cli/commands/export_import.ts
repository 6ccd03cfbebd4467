import { resolve } from "@std/path";
import { exportDrives } from "../../client/archive/export.ts";
import { FolderSource, FolderTarget } from "../../client/archive/folder.ts";
import { importDrives } from "../../client/archive/import.ts";
import { ZipTarget } from "../../client/archive/zip_export.ts";
import { ZipSource } from "../../client/archive/zip_import.ts";
import type { DriveInfo, Drives } from "../../client/drives.ts";
import { ClientError } from "../../client/errors.ts";
import { TransferReport } from "../../client/transfers.ts";
import { failureReason } from "../../rules/system_error.ts";
import { CommandError, UsageError } from "../terminal/errors.ts";
import { TransferProgress } from "../terminal/task_progress.ts";
import { formatBytes, plural } from "../terminal/text.ts";
import { type ClientCall, type ClientCommand, requireDriveName } from "./client_command.ts";
import { FILE_SYSTEM } from "./get.ts";
import { requireProject } from "./project.ts";
import { hasStore, noStore, projectIdProblem, withStore } from "./store_command.ts";
import { StoreDrives } from "./store_drives.ts";

const OPTIONS = [
  { name: "data", value: "DIR", help: "work on the store in this folder, and ask no server" },
  { name: "project", value: "PROJECT", help: "the project, where the store has several" },
  { name: "drive", value: "DRIVE", help: "this drive alone" },
  { name: "force", help: "replace other files of the same names" },
];

/** Commands that take everything along. */
export const moveCommands: readonly ClientCommand[] = [
  {
    name: "export",
    operands: "DIR|FILE.zip",
    count: [1, 1],
    options: OPTIONS,
    summary: "copy drives to a folder or an archive, as drives/DRIVE/FILE",
    run: (call) => runTransfer(call, exportTo),
  },
  {
    name: "import",
    operands: "DIR|FILE.zip",
    count: [1, 1],
    options: OPTIONS,
    summary: "copy such a folder or archive into drives",
    run: (call) => runTransfer(call, importFrom),
  },
];

type Work = (call: ClientCall, view: TransferProgress, side: Drives) => Promise<TransferReport>;

async function runTransfer(call: ClientCall, work: Work): Promise<void> {
  const drive = call.get("drive");
  if (drive !== undefined) requireDriveName(drive);
  const problem = projectIdProblem(call.get("project") ?? "any");
  if (problem !== undefined) throw new UsageError(`The value of --project ${problem}`);
  using view = new TransferProgress(call.env);
  const report = await withSide(call, view, (side) => work(call, view, side));
  view.bar.clear();
  printReport(call, view, report);
}

/** Works over the wire, or where `--data` is given on the store. */
async function withSide<T>(
  call: ClientCall,
  view: TransferProgress,
  work: (side: Drives) => Promise<T>,
): Promise<T> {
  const data = call.get("data");
  const project = call.get("project");
  if (data === undefined) {
    const { connection, drives } = await call.connect(view);
    using _connection = connection;
    if (project !== undefined && project !== connection.project) {
      throw new UsageError("The key is of another project than --project names");
    }
    return await work(drives);
  }
  if (!await hasStore(data)) throw noStore(data);
  return await withStore({ data, kv: undefined }, async (store) => {
    if (project !== undefined) await requireProject(store, project);
    const [only, second] = project === undefined ? await store.projects.list() : [];
    const id = project ?? (second === undefined ? only?.project : undefined);
    if (id === undefined) {
      throw new UsageError("Which project is it? Name it with --project: see kvdrive project list");
    }
    return await work(new StoreDrives(store, resolve(data), id));
  });
}

async function exportTo(
  call: ClientCall,
  view: TransferProgress,
  side: Drives,
): Promise<TransferReport> {
  const path = call.operand(0);
  const report = new TransferReport(view.events);
  const drives = await chosenDrives(call, side);
  view.expect(drives.reduce((sum, { bytes }) => sum + bytes, 0));
  const force = call.has("force");
  using target = await isArchive(path)
    ? await ZipTarget.open(side, path, { force })
    : await FolderTarget.open(side, { folder: path, force, system: FILE_SYSTEM });
  await exportDrives(side, target, drives, report);
  return report;
}

async function chosenDrives(call: ClientCall, side: Drives): Promise<DriveInfo[]> {
  const all = await side.listDrives();
  const drive = call.get("drive");
  const chosen = all.filter(({ name }) => drive === undefined || name === drive);
  if (drive === undefined || chosen.length > 0) return chosen;
  throw new ClientError(`There is no drive ${drive} in this project`);
}

async function importFrom(
  call: ClientCall,
  view: TransferProgress,
  side: Drives,
): Promise<TransferReport> {
  const path = call.operand(0);
  const report = new TransferReport(view.events);
  const states = await call.states();
  const drive = call.get("drive");
  const options = { force: call.has("force"), states, ...(drive === undefined ? {} : { drive }) };
  if (!await isArchive(path)) {
    const source = await FolderSource.open(path);
    if (drive === undefined) view.expect(source.bytes);
    await importDrives(side, source, report, options);
    return report;
  }
  using source = await ZipSource.open(path);
  if (drive === undefined) view.expect(source.bytes);
  await importDrives(side, source, report, options);
  return report;
}

/** Whether a path is that of an archive: a folder may be called as it likes. */
async function isArchive(path: string): Promise<boolean> {
  try {
    return !(await Deno.stat(path)).isDirectory;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return /\.zip$/i.test(path);
    const reason = failureReason(error);
    throw new ClientError(`Cannot look at ${path}: ${reason}`, { cause: error });
  }
}

/** What became of it. @throws {CommandError} where something failed. */
function printReport(call: ClientCall, view: TransferProgress, report: TransferReport): void {
  const { done, bytes, unchanged, skipped, failed } = report;
  const parts = [
    `Copied ${plural(done, "file")} (${formatBytes(bytes)})`,
    ...(unchanged === 0 ? [] : [`${unchanged} there already`]),
    ...(skipped.length === 0 ? [] : [`${skipped.length} skipped`]),
    ...(failed.length === 0 ? [] : [`${failed.length} failed`]),
  ];
  call.print(view, { copied: done, bytes, unchanged, skipped, failed }, parts.join(", "));
  if (failed.length > 0) {
    throw new CommandError(`${plural(failed.length, "file")} could not be copied`);
  }
}

import { MAX_READ_TRIES } from "../download.ts";
import type { DriveInfo, Drives, FileInfo } from "../drives.ts";
import { FileChanged, isFatal } from "../errors.ts";
import { forEachConcurrent, type TransferReport } from "../transfers.ts";
import type { IndexEntry } from "./index.ts";

/** The destination of an export: a folder or an archive. */
export interface ExportTarget {
  /** Files that may be added concurrently. */
  readonly concurrency: number;
  /** Reports whether the target has this version of a file. */
  has(drive: string, file: FileInfo): Promise<boolean>;
  /** Fetches a file. @throws {FileChanged} if the version no longer exists. */
  add(drive: string, file: FileInfo, onBytes: (count: number) => void): Promise<void>;
  /** Keeps a folder, whose name ends with a slash. */
  addFolder(drive: string, name: string): Promise<void>;
  /** Returns the files and folders of an earlier export of a drive that are no longer in the drive. */
  obsolete(drive: string): IndexEntry[];
  /** Completes the export. */
  finish(): Promise<void>;
}

/** Copies drives to a target. The failure of a single file is reported, and the others are copied. */
export async function exportDrives(
  drives: Drives,
  target: ExportTarget,
  chosen: readonly DriveInfo[],
  report: TransferReport,
): Promise<void> {
  for (const { name: drive } of chosen) {
    try {
      await forEachConcurrent(drives.listFiles(drive, ""), target.concurrency, async (file) => {
        await exportFile(drives, target, drive, file, report);
      });
      for await (const name of drives.listFolders(drive)) {
        await exportFolder(target, drive, name, report);
      }
      for (const { name, path } of target.obsolete(drive)) {
        report.skip(drive, name, `it is no longer in the drive; its copy stays in ${path}`);
      }
    } catch (error) {
      if (isFatal(error)) throw error;
      report.fail(drive, "", error);
    }
  }
  await target.finish();
}

async function exportFolder(
  target: ExportTarget,
  drive: string,
  name: string,
  report: TransferReport,
): Promise<void> {
  try {
    await target.addFolder(drive, name);
    report.addFolder();
  } catch (error) {
    if (isFatal(error)) throw error;
    report.fail(drive, name, error);
  }
}

async function exportFile(
  drives: Drives,
  target: ExportTarget,
  drive: string,
  listed: FileInfo,
  report: TransferReport,
): Promise<void> {
  report.begin(drive, listed.name);
  let file: FileInfo | undefined = listed;
  let counted = 0;
  const onBytes = (count: number) => {
    counted += count;
    report.progress(count);
  };
  for (let tries = 1; file !== undefined; tries++) {
    try {
      if (await target.has(drive, file)) return report.same(file.size);
      await target.add(drive, file, onBytes);
      return report.add(file.size);
    } catch (error) {
      const isRetryable = error instanceof FileChanged && tries < MAX_READ_TRIES;
      if (!isRetryable && isFatal(error)) throw error;
      if (!isRetryable) return report.fail(drive, listed.name, error);
      report.progress(-counted);
      counted = 0;
      file = await drives.stat(drive, listed.name);
    }
  }
  report.skip(drive, listed.name, "it was deleted during the export");
}

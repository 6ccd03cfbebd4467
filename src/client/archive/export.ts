import type { DownloadSource } from "../download.ts";
import type { DriveInfo, FileInfo, RemoteDrives } from "../drives.ts";
import { isFatal } from "../errors.ts";
import { forEachConcurrent, type Outcome, type TransferReport, withVersion } from "../transfers.ts";
import type { IndexEntry } from "./index.ts";

/** The destination of an export: a folder or an archive. */
export interface ExportTarget {
  /** Files that may be added concurrently. */
  readonly concurrency: number;
  /** Reports whether the target has this version of a file. */
  has(drive: string, file: FileInfo): Promise<boolean>;
  /** Fetches a file. @throws {KvdriveError} with the code `file_changed` if the version no longer exists. */
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
  drives: RemoteDrives,
  target: ExportTarget,
  chosen: readonly DriveInfo[],
  report: TransferReport,
): Promise<void> {
  for (const { name: drive } of chosen) {
    try {
      await forEachConcurrent(drives.listFiles(drive, ""), target.concurrency, async (file) => {
        await exportFile(target, { drives, drive, file }, report);
      });
      for await (const name of drives.listFolders(drive)) {
        await report.attempt(drive, name, async () => {
          await target.addFolder(drive, name);
          return { kind: "folder" };
        });
      }
      for (const { name, path } of target.obsolete(drive)) {
        const reason = `it is no longer in the drive; its copy stays in ${path}`;
        report.count(drive, name, { kind: "skipped", reason });
      }
    } catch (error) {
      if (isFatal(error)) throw error;
      report.fail(drive, "", error);
    }
  }
  await target.finish();
}

async function exportFile(
  target: ExportTarget,
  source: DownloadSource,
  report: TransferReport,
): Promise<void> {
  const { drive, file: { name } } = source;
  await report.attempt(drive, name, async (onBytes) => {
    const outcome = await withVersion<Outcome>(source, onBytes, async (file, onBytes) => {
      const { size: bytes } = file;
      if (await target.has(drive, file)) return { kind: "unchanged", bytes };
      await target.add(drive, file, onBytes);
      return { kind: "transferred", bytes };
    });
    return outcome ?? { kind: "skipped", reason: "it was deleted during the export" };
  });
}

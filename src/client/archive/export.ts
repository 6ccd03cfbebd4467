import { MAX_READ_TRIES } from "../download.ts";
import type { DriveInfo, Drives, FileInfo } from "../drives.ts";
import { FileChanged, isFatal } from "../errors.ts";
import { forEachConcurrent, type TransferReport } from "../transfers.ts";
import type { IndexEntry } from "./index.ts";

/** Where drives are exported to. */
export interface ExportTarget {
  /** How many files may be added at once. */
  readonly atOnce: number;
  /** Whether this version of a file is there. */
  has(drive: string, file: FileInfo): Promise<boolean>;
  /** Fetches a file. @throws {FileChanged} where that version is not there any more. */
  add(drive: string, file: FileInfo, onBytes: (count: number) => void): Promise<void>;
  /** What an earlier export left of a drive that has been exported, and that is not in it any more. */
  leftOver(drive: string): IndexEntry[];
  /** Makes the export whole. */
  finish(): Promise<void>;
}

/** Copies drives to a target. What fails for one file alone is reported, and the others are copied. */
export async function exportDrives(
  side: Drives,
  target: ExportTarget,
  drives: readonly DriveInfo[],
  report: TransferReport,
): Promise<void> {
  for (const { name: drive } of drives) {
    try {
      await forEachConcurrent(side.listFiles(drive, ""), target.atOnce, async (file) => {
        await exportFile(side, target, drive, file, report);
      });
      for (const { name, path } of target.leftOver(drive)) {
        report.skip(drive, name, `it is not in the drive any more; its copy is left in ${path}`);
      }
    } catch (error) {
      if (isFatal(error)) throw error;
      report.fail(drive, "", error);
    }
  }
  await target.finish();
}

async function exportFile(
  side: Drives,
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
      const mayGoOn = error instanceof FileChanged && tries < MAX_READ_TRIES;
      if (!mayGoOn && isFatal(error)) throw error;
      if (!mayGoOn) return report.fail(drive, listed.name, error);
      report.progress(-counted);
      counted = 0;
      file = await side.stat(drive, listed.name);
    }
  }
  report.skip(drive, listed.name, "it was deleted meanwhile");
}

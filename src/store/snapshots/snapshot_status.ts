import type { BackupStatus } from "../backup/backup_health.ts";
import type { BackupSchedule } from "../backup/backup_schedule.ts";
import type { RepositoryBackups } from "./repository_backups.ts";

/** The state of a server's snapshots. */
export interface SnapshotStatus extends BackupStatus {
  target: string;
  /** The files of the newest snapshot, their bytes, and those that it added; `undefined` if there is none. */
  last: { files: number; bytes: number; added: number } | undefined;
}

export function snapshotStatus(
  schedule: BackupSchedule,
  { place, last }: RepositoryBackups,
): SnapshotStatus {
  const size = last && { files: last.files, bytes: last.bytes, added: last.added };
  return { ...schedule.status(), target: place, last: size };
}

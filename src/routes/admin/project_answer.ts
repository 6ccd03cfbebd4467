import { isoSeconds } from "../../drive/iso_time.ts";
import type { BackupStatus } from "../../store/backup_health.ts";
import type { Volume } from "../../store/disk_space.ts";
import type { DriveUsage } from "../../store/drive_store.ts";
import type { ProjectInfo } from "../../store/project_store.ts";

/** What every answer on a project has. */
export interface ProjectAnswer {
  project_id: string;
  name: string | null;
  created: string;
  /** How many bytes its files may have together; `null` where that is not limited. */
  max_bytes: number | null;
}

export interface DriveAnswer {
  drive_name: string;
  files: number;
  bytes: number;
}

export function projectAnswer({ project, name, created, maxBytes }: ProjectInfo): ProjectAnswer {
  return {
    project_id: project,
    name: name ?? null,
    created: isoSeconds(created),
    max_bytes: maxBytes ?? null,
  };
}

/** What every answer on a project's drives has of each. */
export function driveAnswer({ name, files, bytes }: DriveUsage): DriveAnswer {
  return { drive_name: name, files, bytes };
}

/** What all drives of a project hold together. */
export function sumOf(drives: readonly DriveUsage[]): { files: number; bytes: number } {
  const sum = { files: 0, bytes: 0 };
  for (const { files, bytes } of drives) {
    sum.files += files;
    sum.bytes += bytes;
  }
  return sum;
}

/** The disk that all projects share, in bytes; `null` where nothing is known of it. */
export function diskAnswer(
  volume: Volume | undefined,
): { total: number | null; free: number | null } {
  return { total: volume?.total ?? null, free: volume?.free ?? null };
}

/** How the backups of the server are, for its administrator. */
export interface BackupsAnswer {
  /** When the newest whole backup was made; `null` if there is none. */
  newest: string | null;
  /** Seconds between two backups. */
  every: number;
  /** Backups that failed since the server was started. */
  failures: number;
  /** What is wrong, as a sentence; `null` if all is well. */
  problem: string | null;
}

export function backupsAnswer(
  { newest, every, failures, problem }: BackupStatus,
): BackupsAnswer {
  return {
    newest: newest === undefined ? null : isoSeconds(newest),
    every: every / 1000,
    failures,
    problem: problem ?? null,
  };
}

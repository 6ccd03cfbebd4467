import { isoSeconds } from "../../drive/iso_time.ts";
import type { BackupStatus } from "../../store/backup_health.ts";
import type { Volume } from "../../store/disk_space.ts";
import type { DriveUsage } from "../../store/drive_store.ts";
import type { Integrity } from "../../store/store.ts";
import type { ProjectInfo } from "../../store/project_store.ts";

/** What every answer on a project has. */
export interface ProjectAnswer {
  project_id: string;
  name: string | null;
  created: string;
  /** How many bytes its files and open uploads may have together; `null` where that is not limited. */
  max_bytes: number | null;
  /** The domain below which its owner may choose host names for applications; `null` where there is none. */
  host_suffix: string | null;
}

export interface DriveAnswer {
  drive_name: string;
  files: number;
  bytes: number;
}

export function projectAnswer(
  { project, name, created, maxBytes, hostSuffix }: ProjectInfo,
): ProjectAnswer {
  return {
    project_id: project,
    name: name ?? null,
    created: isoSeconds(created),
    max_bytes: maxBytes ?? null,
    host_suffix: hostSuffix ?? null,
  };
}

/** What every answer on a project's drives has of each. */
export function driveAnswer({ name, files, bytes }: DriveUsage): DriveAnswer {
  return { drive_name: name, files, bytes };
}

/** What all drives of a project hold together. */
export function sumOf(
  drives: readonly DriveUsage[],
): { files: number; bytes: number; open_upload_bytes: number } {
  const sum = { files: 0, bytes: 0, open_upload_bytes: 0 };
  for (const { files, bytes, openBytes } of drives) {
    sum.files += files;
    sum.bytes += bytes;
    sum.open_upload_bytes += openBytes;
  }
  return sum;
}

/** What the administrator is told of damage. */
export interface IntegrityAnswer {
  damaged_files: number;
  damaged: {
    project_id: string;
    drive_name: string;
    name: string;
    problem: string;
    found: string;
  }[];
  /** `null` before the first check of all files. */
  last_check_began: string | null;
  /** `null` while one runs, too. */
  last_check_ended: string | null;
  progress: number;
}

/** Damaged files that an answer lists; the number says how many there are. */
const MAX_LISTED_DAMAGES = 100;

/** Which files are damaged, and when all were checked. */
export function integrityAnswer({ damages, pass, progress }: Integrity): IntegrityAnswer {
  return {
    damaged_files: damages.length,
    damaged: damages.slice(0, MAX_LISTED_DAMAGES).map(({ place, problem, found }) => ({
      project_id: place.project,
      drive_name: place.drive,
      name: place.name,
      problem,
      found: isoSeconds(found),
    })),
    last_check_began: pass === undefined ? null : isoSeconds(pass.started),
    last_check_ended: pass?.finished === undefined ? null : isoSeconds(pass.finished),
    progress,
  };
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

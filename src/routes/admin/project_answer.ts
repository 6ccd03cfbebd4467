import { isoSeconds } from "../../drive/iso_time.ts";
import type { Volume } from "../../store/disk_space.ts";
import type { DriveUsage } from "../../store/drive_store.ts";
import type { ProjectInfo } from "../../store/project_store.ts";

/** What every answer on a project has. */
export interface ProjectAnswer {
  project_id: string;
  name: string | null;
  created: string;
  /** How many bytes its files and open uploads may have together; `null` where that is not limited. */
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

/** The disk that all projects share, in bytes; `null` where nothing is known of it. */
export function diskAnswer(
  volume: Volume | undefined,
): { total: number | null; free: number | null } {
  return { total: volume?.total ?? null, free: volume?.free ?? null };
}

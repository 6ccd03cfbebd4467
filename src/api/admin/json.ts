/**
 * The JSON of the administration. Commands that work on the store directly print the same.
 *
 * @module
 */

import { isoSeconds } from "../../rules/dates.ts";
import type { AppKeyInfo } from "../../store/accounts/app_keys.ts";
import type { AppInfo } from "../../store/accounts/apps.ts";
import type { KeyInfo } from "../../store/accounts/project_keys.ts";
import type { ProjectInfo } from "../../store/accounts/projects.ts";
import type { S3KeyInfo } from "../../store/accounts/s3_keys.ts";
import type { BackupStatus } from "../../store/backup/backup_health.ts";
import type { Volume } from "../../store/disk/volume.ts";
import type { DriveUsage, Usage } from "../../store/quotas/usage.ts";
import type { Integrity } from "../../store/store.ts";

/** The fields of a project in every response. */
export interface ProjectJson {
  project_id: string;
  name: string | null;
  created: string;
  /** The limit for the total size of its files and open uploads; `null` for none. */
  max_bytes: number | null;
  /** The limit for their number, with those in the trash; `null` for none. */
  max_files: number | null;
  /** The domain below which its owner may choose host names for applications; `null` for none. */
  host_suffix: string | null;
}

/** A project as JSON. */
export function projectJson(
  { project, name, created, maxBytes, maxFiles, hostSuffix }: ProjectInfo,
): ProjectJson {
  return {
    project_id: project,
    name: name ?? null,
    created: isoSeconds(created),
    max_bytes: maxBytes ?? null,
    max_files: maxFiles ?? null,
    host_suffix: hostSuffix ?? null,
  };
}

/** The fields of a project key in every response, without its secret. */
export interface ProjectKeyJson {
  prefix: string;
  name: string | null;
  permissions: readonly string[];
  /** `null` for all. */
  drives: readonly string[] | null;
  /** `null` for all names. */
  name_prefix: string | null;
  created: string;
  expires: string | null;
  /** The hour of the last use. */
  last_used: string | null;
}

/** A project key as JSON. */
export function projectKeyJson(
  { prefix, name, rights, created, lastUsed }: KeyInfo,
): ProjectKeyJson {
  const { permissions, drives, namePrefix, expires } = rights;
  return {
    prefix,
    name: name ?? null,
    permissions,
    drives: drives ?? null,
    name_prefix: namePrefix === "" ? null : namePrefix,
    created: isoSeconds(created),
    expires: expires === undefined ? null : isoSeconds(expires),
    last_used: lastUsed === undefined ? null : isoSeconds(lastUsed),
  };
}

/** The fields of an S3 key in every response, without its secret. */
export interface S3KeyJson extends Omit<ProjectKeyJson, "prefix" | "name_prefix"> {
  access_key_id: string;
  /** `null` for all names. */
  prefix: string | null;
  /** Whether the server can decrypt its secret. */
  usable: boolean;
}

/** An S3 key as JSON. */
export function s3KeyJson({ accessKeyId, isUsable, ...info }: S3KeyInfo): S3KeyJson {
  const { prefix: _, name_prefix: prefix, ...rest } = projectKeyJson({ prefix: "", ...info });
  return { access_key_id: accessKeyId, ...rest, prefix, usable: isUsable };
}

/** The fields of a drive in every response. */
export interface DriveJson {
  drive_name: string;
  files: number;
  bytes: number;
}

/** A drive as JSON. */
export function driveJson({ name, files, bytes }: DriveUsage): DriveJson {
  return { drive_name: name, files, bytes };
}

/** A project with the usage of its drives together. */
export interface ProjectUsageJson extends ProjectJson {
  /** How many days the trash keeps files; 0 if there is none. */
  trash_days: number;
  files: number;
  bytes: number;
  open_upload_bytes: number;
  trash_files: number;
  trash_bytes: number;
}

/** A project and its usage as JSON. */
export function projectUsageJson(
  info: ProjectInfo,
  { files, bytes, openBytes, trashFiles, trashBytes }: Usage,
): ProjectUsageJson {
  return {
    ...projectJson(info),
    trash_days: info.trashDays ?? 0,
    files,
    bytes,
    open_upload_bytes: openBytes,
    trash_files: trashFiles,
    trash_bytes: trashBytes,
  };
}

/** Returns the usage of drives or projects together. */
export function sumOf(usages: readonly Usage[]): Usage {
  const sum = { files: 0, bytes: 0, openBytes: 0, trashFiles: 0, trashBytes: 0 };
  for (const { files, bytes, openBytes, trashFiles, trashBytes } of usages) {
    sum.files += files;
    sum.bytes += bytes;
    sum.openBytes += openBytes;
    sum.trashFiles += trashFiles;
    sum.trashBytes += trashBytes;
  }
  return sum;
}

/** The size of the disk that all projects share, and its free space, in bytes; `null` if not known. */
export function diskJson(
  volume: Volume | undefined,
): { total: number | null; free: number | null } {
  return { total: volume?.total ?? null, free: volume?.free ?? null };
}

/** The most damaged files that a response lists. Their number is always complete. */
export const MAX_LISTED_DAMAGES = 100;

/** What the administrator sees of damage. */
export interface IntegrityJson {
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
  /** `null` before the end of the first check, and while one is running. */
  last_check_ended: string | null;
  progress: number;
}

/** The damaged files and the last check of all files as JSON. */
export function integrityJson({ damages, pass, progress }: Integrity): IntegrityJson {
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

/** What the administrator sees of the server's backups. */
export interface BackupsJson {
  /** The time of the newest complete backup; `null` if there is none. */
  newest: string | null;
  /** Seconds between two backups. */
  every: number;
  /** Failed backups since the server was started. */
  failures: number;
  /** A sentence; `null` if there is no problem. */
  problem: string | null;
}

/** The state of the backups as JSON. */
export function backupsJson({ newest, every, failures, problem }: BackupStatus): BackupsJson {
  return {
    newest: newest === undefined ? null : isoSeconds(newest),
    every: every / 1000,
    failures,
    problem: problem ?? null,
  };
}

/** An application in every response. */
export interface AppJson {
  name: string;
  project_id: string;
  upstream: string | null;
  host: string | null;
  access: { enabled: boolean };
  created: string;
}

/** An application as JSON. */
export function appJson({ app, project, upstream, host, access, created }: AppInfo): AppJson {
  return {
    name: app,
    project_id: project,
    upstream: upstream ?? null,
    host: host ?? null,
    access: { enabled: access },
    created: isoSeconds(created),
  };
}

/** The fields of a key of an application in every response, without its secret. */
export interface AppKeyJson {
  name: string;
  description: string | null;
  prefix: string;
  created: string;
}

/** A key of an application as JSON. */
export function appKeyJson({ name, description, prefix, created }: AppKeyInfo): AppKeyJson {
  return { name, description: description ?? null, prefix, created: isoSeconds(created) };
}

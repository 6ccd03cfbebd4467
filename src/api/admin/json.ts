/**
 * The JSON of the administration. The command line reads it by these types.
 *
 * @module
 */

import { isoSeconds } from "../../rules/dates.ts";
import type { Rights } from "../../rules/rights.ts";
import type { AppKeyInfo } from "../../store/accounts/app_keys.ts";
import type { AppInfo } from "../../store/accounts/apps.ts";
import type { KeyInfo } from "../../store/accounts/project_keys.ts";
import type { ProjectInfo } from "../../store/accounts/projects.ts";
import type { S3KeyInfo } from "../../store/accounts/s3_keys.ts";
import type { SnapshotStatus } from "../../store/snapshots/repository_backups.ts";
import type { BackupStatus } from "../../store/backup/backup_health.ts";
import type { Volume } from "../../store/disk/volume.ts";
import type { DriveUsage, Usage } from "../../store/quotas/usage.ts";
import type { Integrity } from "../../store/store.ts";

type JsonObject = Record<string, unknown>;

/** Returns a time with seconds; `null` if there is none. */
export function timeJson(time: number | undefined): string | null {
  return time === undefined ? null : isoSeconds(time);
}

export interface ProjectJson {
  project_id: string;
  name: string | null;
  created: string;
  max_bytes: number | null;
  max_files: number | null;
  host_suffix: string | null;
}

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

/** What a key may do, and with which drives and names; `null` for all. */
export interface ScopeJson {
  permissions: readonly string[];
  drives: readonly string[] | null;
  name_prefix: string | null;
}

export function scopeJson({ permissions, drives, namePrefix }: Rights): ScopeJson {
  return {
    permissions,
    drives: drives ?? null,
    name_prefix: namePrefix === "" ? null : namePrefix,
  };
}

/** A project key without its secret. */
export interface ProjectKeyJson extends ScopeJson {
  prefix: string;
  name: string | null;
  created: string;
  expires: string | null;
  /** The hour of the last use. */
  last_used: string | null;
}

export function projectKeyJson(
  { prefix, name, rights, created, lastUsed }: KeyInfo,
): ProjectKeyJson {
  return {
    prefix,
    name: name ?? null,
    ...scopeJson(rights),
    created: isoSeconds(created),
    expires: timeJson(rights.expires),
    last_used: timeJson(lastUsed),
  };
}

/** An S3 key without its secret. */
export interface S3KeyJson extends Omit<ProjectKeyJson, "prefix" | "name_prefix"> {
  access_key_id: string;
  /** `null` for all names. */
  prefix: string | null;
  /** Whether the server can decrypt its secret. */
  usable: boolean;
}

export function s3KeyJson({ accessKeyId, isUsable, ...info }: S3KeyInfo): S3KeyJson {
  const { prefix: _, name_prefix: prefix, ...rest } = projectKeyJson({ prefix: "", ...info });
  return { access_key_id: accessKeyId, ...rest, prefix, usable: isUsable };
}

export interface DriveJson {
  drive_name: string;
  files: number;
  bytes: number;
}

export function driveJson({ name, files, bytes }: DriveUsage): DriveJson {
  return { drive_name: name, files, bytes };
}

/** A project with the usage of its drives together. */
export interface ProjectUsageJson extends ProjectJson {
  trash_days: number;
  /** Absent while no changes are kept. */
  change_days?: number;
  files: number;
  bytes: number;
  open_upload_bytes: number;
  trash_files: number;
  trash_bytes: number;
}

export function projectUsageJson(
  info: ProjectInfo,
  { files, bytes, openBytes, trashFiles, trashBytes }: Usage,
): ProjectUsageJson {
  return {
    ...projectJson(info),
    trash_days: info.trashDays ?? 0,
    ...(info.changeDays === undefined ? {} : { change_days: info.changeDays }),
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

/** The disk that all projects share. */
export function diskJson(volume: Volume | undefined): JsonObject {
  return { total: volume?.total ?? null, free: volume?.free ?? null };
}

/** The most damaged files that a response lists. Their number is always complete. */
export const MAX_LISTED_DAMAGES = 100;

/** The damaged files and the last check of all files. */
export function integrityJson({ damages, pass, progress }: Integrity): JsonObject {
  return {
    damaged_files: damages.length,
    damaged: damages.slice(0, MAX_LISTED_DAMAGES).map(({ place, problem, found }) => ({
      project_id: place.project,
      drive_name: place.drive,
      name: place.name,
      problem,
      found: isoSeconds(found),
    })),
    last_check_began: timeJson(pass?.started),
    last_check_ended: timeJson(pass?.finished),
    progress,
  };
}

export function backupsJson({ newest, every, failures, problem }: BackupStatus): JsonObject {
  return {
    newest: timeJson(newest),
    every: every / 1000,
    failures,
    problem: problem ?? null,
  };
}

export function snapshotsJson(
  { target, newest, every, last, ...status }: SnapshotStatus,
): JsonObject {
  const { failures, problem } = status;
  return {
    target,
    newest: timeJson(newest),
    next: timeJson(newest === undefined ? undefined : newest + every),
    every: every / 1000,
    files: last?.files ?? null,
    bytes: last?.bytes ?? null,
    added: last?.added ?? null,
    failures,
    problem: problem ?? null,
  };
}

export interface AppJson {
  name: string;
  project_id: string;
  upstream: string | null;
  host: string | null;
  access: { enabled: boolean };
  created: string;
}

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

/** A key of an application without its secret. */
export interface AppKeyJson {
  name: string;
  description: string | null;
  prefix: string;
  created: string;
}

export function appKeyJson({ name, description, prefix, created }: AppKeyInfo): AppKeyJson {
  return { name, description: description ?? null, prefix, created: isoSeconds(created) };
}

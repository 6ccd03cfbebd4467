/**
 * The backups that a server makes: files in a folder, and snapshots in a repository.
 *
 * @module
 */
import { isS3 } from "../../../repository/targets/target.ts";
import { failureReason } from "../../../rules/system_error.ts";
import { BackupFolder } from "../../../store/backup/backup_folder.ts";
import type { BackupStatus } from "../../../store/backup/backup_health.ts";
import { BackupSchedule, FileBackups } from "../../../store/backup/backup_schedule.ts";
import { databasePath } from "../../../store/disk/store_files.ts";
import {
  type RepositoryBackups,
  type SnapshotStatus,
} from "../../../store/snapshots/repository_backups.ts";
import { repositorySettings, UNENCRYPTED_WARNING } from "./repository_settings.ts";
import type { ServeOptions } from "../../options/serve_options.ts";
import { type Environment, printError, StartError } from "../../terminal/output.ts";
import type { Observation } from "../../../server/observation.ts";

/** What makes the backups of a server. */
export interface ServerBackups {
  /** The state of the backups in files, and of the snapshots; absent if there are none. */
  status: {
    backups: (() => BackupStatus) | undefined;
    snapshots: (() => SnapshotStatus) | undefined;
  };
  start(): void;
  stop(): Promise<void>;
}

type Options = Pick<ServeOptions, "backups" | "snapshots" | "data" | "diskReserve">;

/** @throws {StartError} if the folder of the backups cannot be used. */
export async function openBackups(
  options: Options,
  observation: Observation,
  env: Environment,
): Promise<ServerBackups> {
  const files = await openFiles(options, observation);
  const repository = await openRepository(options, observation, env);
  const schedules = [files, repository?.schedule].filter((one) => one !== undefined);
  return {
    status: {
      backups: files && (() => files.status()),
      snapshots: repository && (() => repository.backups.status(repository.schedule)),
    },
    start: () => schedules.forEach((one) => one.start()),
    stop: async () => void await Promise.all(schedules.map((one) => one.stop())),
  };
}

async function openFiles(
  { backups: wanted, data, diskReserve }: Options,
  { onError }: Observation,
): Promise<BackupSchedule | undefined> {
  if (wanted === undefined) return undefined;
  const folder = new BackupFolder(wanted.folder);
  try {
    await folder.prepare();
  } catch (error) {
    const reason = failureReason(error);
    const message = `Cannot use ${wanted.folder}, the folder of --backup-dir: ${reason}`;
    throw new StartError(message, { cause: error });
  }
  const { every, keep } = wanted;
  const source = databasePath(data);
  const backups = new FileBackups({ source, folder, keep, reserve: diskReserve });
  return new BackupSchedule({ backups, every, onError });
}

/** A repository that cannot be reached now may be reached later, so nothing is tried here. */
async function openRepository(
  { snapshots, data }: Options,
  { onError, onNotice }: Observation,
  env: Environment,
): Promise<{ schedule: BackupSchedule; backups: RepositoryBackups } | undefined> {
  if (snapshots === undefined) return undefined;
  const { every, retention, bandwidth } = snapshots;
  const repository = await repositorySettings(snapshots.repository, env);
  if (isS3(repository.target) && repository.passphrase === undefined) {
    if (!repository.isUnencryptedAllowed) {
      throw new StartError(
        `The provider of ${repository.target} could read all files: give a passphrase with ` +
          "--backup-passphrase-file or KVDRIVE_BACKUP_PASSPHRASE, or allow it with --backup-unencrypted",
      );
    }
    printError(`${UNENCRYPTED_WARNING}.\n`);
  }
  const { RepositoryBackups } = await import("../../../store/snapshots/repository_backups.ts");
  const backups = new RepositoryBackups({
    folder: data,
    repository,
    bandwidth,
    retention,
    onNotice,
    onError,
  });
  return { schedule: new BackupSchedule({ backups, every, onError }), backups };
}

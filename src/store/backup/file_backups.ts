import { MINUTE } from "../../rules/units.ts";
import { FileLock } from "../disk/durable_file.ts";
import { Backup } from "./backup.ts";
import type { BackupFolder } from "./backup_folder.ts";
import type { ScheduledBackups } from "./scheduled_backups.ts";

/** Milliseconds after which a failed backup is repeated. */
const RETRY_INTERVAL = 10 * MINUTE;

export interface FileBackupsOptions {
  source: string;
  folder: BackupFolder;
  /** How many backups stay. */
  keep: number;
  /** Bytes of the disk that must stay free. */
  reserve: number;
}

/** Whole copies of a store, one file each, in a folder. */
export class FileBackups implements ScheduledBackups {
  #backup: Backup | undefined;
  #isStopped = false;

  constructor(private readonly options: FileBackupsOptions) {}

  get place(): string {
    return this.options.folder.path;
  }

  async newest(now: number): Promise<number | undefined> {
    return await this.options.folder.newest(now);
  }

  async lock(): Promise<Disposable | undefined> {
    return await FileLock.take(this.options.folder.lock);
  }

  async make(): Promise<boolean> {
    const { source, folder, keep, reserve } = this.options;
    const target = await folder.fileAt(Date.now());
    this.#backup = new Backup({ source, target, damaged: folder.damaged, reserve });
    if (this.#isStopped) this.#backup.stop();
    if (await this.#backup.run() === undefined) return false;
    await folder.prune(keep, target);
    return true;
  }

  stop(): void {
    this.#isStopped = true;
    this.#backup?.stop();
  }

  retryAfter(): number {
    return RETRY_INTERVAL;
  }
}

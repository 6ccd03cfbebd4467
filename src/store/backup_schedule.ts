import { BACKUP_CHECK_INTERVAL, BACKUP_RETRY } from "../drive/limits.ts";
import { Backup } from "./backup.ts";
import type { BackupFolder } from "./backup_folder.ts";
import { BackupRuns } from "./errors.ts";

export interface ScheduleOptions {
  /** The store's file. */
  source: string;
  folder: BackupFolder;
  /** Milliseconds. */
  every: number;
  /** How many backups stay. */
  keep: number;
  /** Bytes of the disk that have to stay free. */
  reserve: number;
  /** Told of failures. The backup is tried again later. */
  onError: (error: unknown) => void;
}

/**
 * Makes a backup whenever the newest one of a folder is old enough, until it is stopped. The folder says when that is, so
 * neither a restart nor another process on the same store skips or repeats one.
 */
export class BackupSchedule {
  readonly #options: ScheduleOptions;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #running: Promise<void> | undefined;
  #backup: Backup | undefined;
  #stopped = false;
  /** When a failed one may be repeated, in milliseconds since 1970. */
  #notBefore = -Infinity;

  constructor(options: ScheduleOptions) {
    this.#options = options;
  }

  start(): void {
    this.#lookAfter(0);
  }

  /** Ends it, and a backup that runs. */
  async stop(): Promise<void> {
    this.#stopped = true;
    clearTimeout(this.#timer);
    this.#backup?.stop();
    await this.#running;
  }

  #lookAfter(pause: number): void {
    if (this.#stopped) return;
    this.#timer = setTimeout(() => {
      this.#running = this.#look().then((next) => this.#lookAfter(next));
    }, Math.min(pause, BACKUP_CHECK_INTERVAL));
  }

  /** Makes a backup if it is time; gives when to look again, in milliseconds. */
  async #look(): Promise<number> {
    try {
      const left = await this.#timeLeft();
      if (left > 0) return left;
      await this.#make();
      return Math.max(0, await this.#timeLeft());
    } catch (error) {
      const { every, onError } = this.#options;
      if (error instanceof BackupRuns) return Math.min(every, BACKUP_CHECK_INTERVAL);
      onError(error);
      this.#notBefore = Date.now() + Math.min(every, BACKUP_RETRY);
      return Math.min(every, BACKUP_RETRY);
    }
  }

  async #timeLeft(): Promise<number> {
    const { folder, every } = this.#options;
    const now = Date.now();
    return Math.max(this.#notBefore, await folder.dueAt(every, now)) - now;
  }

  async #make(): Promise<void> {
    const { source, folder, keep, reserve } = this.#options;
    this.#backup = new Backup({
      source,
      target: folder.fileAt(Date.now()),
      temporary: folder.temporary,
      // Another process may have made it before this one had the name.
      isWanted: async () => !this.#stopped && await this.#timeLeft() <= 0,
      reserve,
    });
    const size = await this.#backup.run();
    if (size !== undefined) await folder.prune(keep);
  }
}

import { MINUTE } from "../../rules/units.ts";
import { BackupRuns, DamagedBackup } from "../engine/errors.ts";
import { Backup } from "./backup.ts";
import type { BackupFolder } from "./backup_folder.ts";
import { BackupHealth, type BackupStatus } from "./backup_health.ts";

const BACKUP_RETRY = 10 * MINUTE;

/** How often it is looked whether a backup is due: another process or a person may have changed the folder. */
const BACKUP_CHECK_INTERVAL = MINUTE;

export interface BackupScheduleOptions {
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

/** The shortest pause between two looks at the folder, in milliseconds. */
const MIN_PAUSE = 100;

/**
 * Makes a backup whenever the newest one of a folder is old enough, until it is stopped. The folder says when that is, so
 * neither a restart nor another process on the same store skips or repeats one. Between two backups of this process `every`
 * passes on the monotonic clock, however the wall clock jumps.
 */
export class BackupSchedule {
  readonly #options: BackupScheduleOptions;
  readonly #health: BackupHealth;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #running: Promise<void> | undefined;
  #backup: Backup | undefined;
  #stopped = false;
  /** When the next one may begin, as `performance.now` gives it. */
  #notBefore = -Infinity;

  constructor(options: BackupScheduleOptions) {
    this.#options = options;
    this.#health = new BackupHealth(options.folder.path, options.every);
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

  /** How the backups are, as known from the last look at the folder. */
  status(): BackupStatus {
    return this.#health.status();
  }

  #lookAfter(pause: number): void {
    if (this.#stopped) return;
    this.#timer = setTimeout(() => {
      this.#running = this.#look().then((next) => this.#lookAfter(Math.max(next, MIN_PAUSE)));
    }, Math.min(pause, BACKUP_CHECK_INTERVAL));
  }

  /** Makes a backup if it is time; gives when to look again, in milliseconds. */
  async #look(): Promise<number> {
    const { every, onError } = this.#options;
    try {
      return await this.#makeIfDue();
    } catch (error) {
      if (error instanceof BackupRuns) {
        this.#health.blocked(error, await this.#progressOfOther());
        return Math.min(every, BACKUP_CHECK_INTERVAL);
      }
      onError(error);
      this.#health.failed(error);
      // The store does not become whole by itself.
      const pause = error instanceof DamagedBackup ? every : Math.min(every, BACKUP_RETRY);
      this.#notBefore = performance.now() + pause;
      return pause;
    } finally {
      const reminder = this.#health.reminder();
      if (reminder !== undefined) onError(reminder);
    }
  }

  async #makeIfDue(): Promise<number> {
    const left = await this.#timeLeft();
    if (left > 0) {
      this.#health.idle();
      return left;
    }
    const began = performance.now();
    if (await this.#make()) {
      this.#health.succeeded();
      this.#notBefore = began + this.#options.every;
    }
    return Math.max(0, await this.#timeLeft());
  }

  async #timeLeft(): Promise<number> {
    const { folder, every } = this.#options;
    const now = Date.now();
    const newest = await folder.newest(now);
    this.#health.found(newest, now);
    const due = newest === undefined ? 0 : newest + every - now;
    return Math.max(this.#notBefore - performance.now(), due);
  }

  /** Returns `false` if it was stopped or another process was quicker. */
  async #make(): Promise<boolean> {
    const { source, folder, keep, reserve } = this.#options;
    const target = await folder.fileAt(Date.now());
    this.#backup = new Backup({
      source,
      target,
      temporary: folder.temporary,
      damaged: folder.damaged,
      // Another process may have made it before this one had the name.
      isWanted: async () => !this.#stopped && await this.#timeLeft() <= 0,
      reserve,
    });
    if (await this.#backup.run() === undefined) return false;
    await folder.prune(keep, target);
    return true;
  }

  /** A text that changes while another process writes its copy. */
  async #progressOfOther(): Promise<string> {
    try {
      const { size, mtime, ino } = await Deno.stat(this.#options.folder.temporary);
      return `${ino} ${size} ${mtime?.getTime()}`;
    } catch {
      return "";
    }
  }
}

import { MINUTE } from "../../rules/units.ts";
import { DamagedBackup } from "../engine/errors.ts";
import { BackupHealth, type BackupStatus } from "./backup_health.ts";
import { FileLock } from "../disk/durable_file.ts";
import { Backup } from "./backup.ts";
import type { BackupFolder } from "./backup_folder.ts";

/** The longest and the shortest pause between two checks, in milliseconds: others may change the folder at any time. */
const CHECK_INTERVAL = MINUTE;
const MIN_CHECK_INTERVAL = 100;

export interface BackupScheduleOptions {
  backups: ScheduledBackups;
  /** Milliseconds between two backups. */
  every: number;
  /** Receives failures. The backup is tried again later. */
  onError: (error: unknown) => void;
}

/**
 * Makes a backup whenever the newest one in a place is old enough. The place says when that is, so neither a restart
 * nor another process on the same store skips or repeats one. Between two backups of this process `every` passes on the
 * monotonic clock, even if the wall clock jumps.
 */
export class BackupSchedule {
  readonly #health: BackupHealth;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #running: Promise<void> | undefined;
  #stopped = false;
  /** When the next backup may begin, as `performance.now` counts. */
  #notBefore = -Infinity;
  /** Failures in succession. */
  #failures = 0;

  constructor(private readonly options: BackupScheduleOptions) {
    this.#health = new BackupHealth(options.backups.place, options.every);
  }

  start(): void {
    this.#checkAfter(0);
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    clearTimeout(this.#timer);
    this.options.backups.stop();
    await this.#running;
  }

  /** Returns the state of the backups as of the last check. */
  status(): BackupStatus {
    return this.#health.status();
  }

  #checkAfter(pause: number): void {
    if (this.#stopped) return;
    this.#timer = setTimeout(() => {
      this.#running = this.#check().then((next) =>
        this.#checkAfter(Math.max(next, MIN_CHECK_INTERVAL))
      );
    }, Math.min(pause, CHECK_INTERVAL));
  }

  /** Makes a backup if one is due; returns the milliseconds until the next check. */
  async #check(): Promise<number> {
    const { backups, every, onError } = this.options;
    try {
      const left = await this.#makeIfDue();
      this.#failures = 0;
      return left;
    } catch (error) {
      onError(error);
      this.#health.recordFailure(error);
      // A damaged store stays damaged: copying it every ten minutes would only cost time.
      const retry = backups.retryAfter(++this.#failures);
      const pause = error instanceof DamagedBackup ? every : Math.min(every, retry);
      this.#notBefore = performance.now() + pause;
      return pause;
    } finally {
      const reminder = this.#health.reminder();
      if (reminder !== undefined) onError(reminder);
    }
  }

  async #makeIfDue(): Promise<number> {
    const left = await this.#timeLeft();
    if (left > 0) return left;
    using lock = await this.options.backups.lock();
    this.#health.recordBlocked(lock === undefined);
    if (lock === undefined) return this.options.every;
    const began = performance.now();
    // Another process may have made a backup just before.
    if (await this.#timeLeft() <= 0 && await this.options.backups.make()) {
      this.#health.recordSuccess();
      this.#notBefore = began + this.options.every;
    }
    return Math.max(0, await this.#timeLeft());
  }

  /** Milliseconds until the next backup is due; zero or less if it is due now. */
  async #timeLeft(): Promise<number> {
    const { backups, every } = this.options;
    const now = Date.now();
    const newest = await backups.newest(now);
    this.#health.recordNewest(newest, now);
    const due = newest === undefined ? 0 : newest + every - now;
    return Math.max(this.#notBefore - performance.now(), due);
  }
}

/** Backups of one kind in one place, which a schedule makes. */
export interface ScheduledBackups {
  /** What messages call the place. */
  readonly place: string;

  /**
   * Returns when the newest complete backup was made, in milliseconds since 1970; `undefined` if there is none. Those
   * that are dated in the future do not count.
   *
   * @param now Milliseconds since 1970.
   */
  newest(now: number): Promise<number | undefined>;

  /** Keeps other processes from making the same backup; returns `undefined` if another one makes it. */
  lock(): Promise<Disposable | undefined>;

  /** Makes a backup. Returns `false` if it was stopped. */
  make(): Promise<boolean>;

  /** Stops a backup that is being made, and any later one. */
  stop(): void;

  /** Returns the milliseconds after which a backup is tried again. @param failures How many failed in succession. */
  retryAfter(failures: number): number;
}

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

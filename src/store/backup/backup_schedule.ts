import { MINUTE } from "../../rules/units.ts";
import { DamagedBackup } from "../engine/errors.ts";
import { BackupHealth, type BackupStatus } from "./backup_health.ts";
import type { ScheduledBackups } from "./scheduled_backups.ts";

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

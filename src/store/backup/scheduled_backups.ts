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

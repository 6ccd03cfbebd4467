import { BackupRuns, CannotBackUp } from "../engine/errors.ts";

/** How many times older than the time between two backups the newest one may be. */
const OVERDUE_FACTOR = 2;

/** Milliseconds after which a copy of another process that does not grow counts as stuck; less between frequent backups. */
const BLOCKED_TIME = 10 * 60_000;

/** Milliseconds between two entries in the log on a problem that lasts. */
const REMIND_INTERVAL = 60 * 60_000;

/** How the backups of a server are. */
export interface BackupStatus {
  /** Milliseconds between two backups. */
  every: number;
  /** When the newest whole backup was made, in milliseconds since 1970; `undefined` if there is none. */
  newest: number | undefined;
  /** Backups that failed since the server was started. */
  failures: number;
  /** What the operator must know, as a sentence without its period; `undefined` if all is well. */
  problem: string | undefined;
}

interface Age {
  newest: number | undefined;
  /** Milliseconds of wall-clock time that the newest backup was old, and when that was, as `performance.now` gives it. */
  milliseconds: number;
  at: number;
}

/** A copy of another process that keeps this one from making a backup. */
interface Block {
  error: BackupRuns;
  /** Changes while the other process writes. */
  progress: string;
  since: number;
}

/**
 * Judges whether a server's backups are made as they should be. Ages are measured with the monotonic clock where this
 * process made the backup, so a wall clock that jumps raises no alarm.
 */
export class BackupHealth {
  readonly #folder: string;
  readonly #every: number;
  readonly #startedAt = performance.now();
  #madeAt: number | undefined;
  #age: Age | undefined;
  #failures = 0;
  #failure: string | undefined;
  #block: Block | undefined;
  #remindedAt = -Infinity;

  constructor(folder: string, every: number) {
    this.#folder = folder;
    this.#every = every;
  }

  /** Takes note of the newest backup in the folder. */
  found(newest: number | undefined, now: number): void {
    const milliseconds = newest === undefined ? 0 : now - newest;
    this.#age = { newest, milliseconds, at: performance.now() };
  }

  /** A backup of this process is whole. */
  succeeded(): void {
    this.#madeAt = performance.now();
    this.#failure = undefined;
    this.#block = undefined;
  }

  failed(error: unknown): void {
    this.#failures++;
    this.#failure = error instanceof Error ? error.message : String(error);
    this.#block = undefined;
  }

  /** Another process is making a backup, or holds the lock without doing so. */
  blocked(error: BackupRuns, progress: string): void {
    if (this.#block?.progress === progress) return;
    this.#block = { error, progress, since: performance.now() };
  }

  /** No backup is due, so nothing blocks one. */
  idle(): void {
    this.#block = undefined;
  }

  status(): BackupStatus {
    const newest = this.#age?.newest;
    return { every: this.#every, newest, failures: this.#failures, problem: this.#problem };
  }

  /** An error for the log if a problem has begun or has lasted for another `REMIND_INTERVAL`; failures are logged as they occur. */
  reminder(): CannotBackUp | undefined {
    const problem = this.#blockProblem ?? this.#ageProblem;
    const now = performance.now();
    if (problem === undefined) this.#remindedAt = -Infinity;
    if (problem === undefined || now - this.#remindedAt < REMIND_INTERVAL) return undefined;
    this.#remindedAt = now;
    return new CannotBackUp(problem);
  }

  get #problem(): string | undefined {
    const failure = this.#failure === undefined
      ? undefined
      : `The last backup failed: ${this.#failure}`;
    return this.#blockProblem ?? failure ?? this.#ageProblem;
  }

  get #blockProblem(): string | undefined {
    if (this.#block === undefined) return undefined;
    const lasted = performance.now() - this.#block.since;
    if (lasted < Math.min(BLOCKED_TIME, this.#every)) return undefined;
    return `No backup can be made: another process holds the lock and writes nothing (${this.#block.error.message})`;
  }

  get #ageProblem(): string | undefined {
    const now = performance.now();
    const own = now - (this.#madeAt ?? this.#startedAt);
    const newest = this.#age?.newest;
    if (newest === undefined) {
      return isTooOld(own, this.#every) ? noBackupSentence(this.#folder) : undefined;
    }
    const { milliseconds = 0, at = now } = this.#age ?? {};
    const age = milliseconds + now - at;
    const isOverdue = isTooOld(this.#madeAt === undefined ? age : Math.min(own, age), this.#every);
    return isOverdue ? overdueSentence(this.#folder, newest, this.#every) : undefined;
  }
}

/** Whether a backup of an age is older than it should be if one is made every so often; both in milliseconds. */
export function isTooOld(age: number, every: number): boolean {
  return age > OVERDUE_FACTOR * every;
}

export function noBackupSentence(folder: string): string {
  return `There is no whole backup in ${folder}`;
}

/** Says that the newest backup, made at a time in milliseconds since 1970, is too old. */
export function overdueSentence(folder: string, newest: number, every: number): string {
  const seconds = Math.round(every / 1000);
  return `The newest backup in ${folder} is of ${new Date(newest).toISOString()}, ` +
    `older than ${OVERDUE_FACTOR} × ${seconds} s`;
}

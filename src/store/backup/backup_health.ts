import { HOUR, SECOND } from "../../rules/units.ts";
import { CannotBackUp } from "../engine/errors.ts";

/** How many times the interval between two backups the newest one may be old. */
const OVERDUE_FACTOR = 2;

/** Milliseconds between two log entries about a lasting problem. */
const REMINDER_INTERVAL = HOUR;

/** The state of a server's backups. */
export interface BackupStatus {
  /** Milliseconds between two backups. */
  every: number;
  /** When the newest complete backup was made, in milliseconds since 1970; `undefined` if there is none. */
  newest: number | undefined;
  /** Backups that failed since the server was started. */
  failures: number;
  /** What the operator must know, as a sentence without its period; `undefined` if all is well. */
  problem: string | undefined;
}

/** The newest backup in the folder, as last seen. */
interface Newest {
  /** When it was made, in milliseconds since 1970; `undefined` if there is none. */
  time: number | undefined;
  /** Its age at `seenAt` by the wall clock, in milliseconds. */
  age: number;
  /** When the folder was listed, as `performance.now` counts. */
  seenAt: number;
}

/**
 * Tracks whether a server's backups are made in time. Ages are measured with the monotonic clock if this process made
 * the backup, so a wall clock that jumps raises no alarm.
 */
export class BackupHealth {
  readonly #startedAt = performance.now();
  #succeededAt: number | undefined;
  #newest: Newest | undefined;
  #failures = 0;
  #failure: string | undefined;
  #isBlocked = false;
  #remindedAt = -Infinity;

  /**
   * @param folder The folder of the backups.
   * @param every Milliseconds between two backups.
   */
  constructor(private readonly folder: string, private readonly every: number) {}

  /** Records the newest backup in the folder; both times in milliseconds since 1970. */
  recordNewest(time: number | undefined, now: number): void {
    this.#newest = { time, age: time === undefined ? 0 : now - time, seenAt: performance.now() };
  }

  /** Records that this process made a backup. */
  recordSuccess(): void {
    this.#succeededAt = performance.now();
    this.#failure = undefined;
  }

  /** Records that a backup of this process failed. */
  recordFailure(error: unknown): void {
    this.#failures++;
    this.#failure = error instanceof Error ? error.message : String(error);
  }

  /** Records whether another process held the lock of the folder when a backup was due. */
  recordBlocked(isBlocked: boolean): void {
    this.#isBlocked = isBlocked;
  }

  status(): BackupStatus {
    const newest = this.#newest?.time;
    const problem = this.#failureProblem ?? this.#ageProblem;
    return { every: this.every, newest, failures: this.#failures, problem };
  }

  /**
   * Returns an error for the log if a problem has begun or has lasted for another `REMINDER_INTERVAL`. Failures are not
   * among them: they are logged when they occur.
   */
  reminder(): CannotBackUp | undefined {
    const problem = this.#ageProblem;
    const now = performance.now();
    if (problem === undefined) this.#remindedAt = -Infinity;
    if (problem === undefined || now - this.#remindedAt < REMINDER_INTERVAL) return undefined;
    this.#remindedAt = now;
    return new CannotBackUp(problem);
  }

  get #failureProblem(): string | undefined {
    return this.#failure === undefined ? undefined : `The last backup failed: ${this.#failure}`;
  }

  get #ageProblem(): string | undefined {
    const problem = this.#sentenceOfAge;
    const isBlocked = problem !== undefined && this.#isBlocked;
    return isBlocked ? `${problem}: another process has the lock of the folder` : problem;
  }

  get #sentenceOfAge(): string | undefined {
    const now = performance.now();
    const sinceSuccess = now - (this.#succeededAt ?? this.#startedAt);
    if (this.#newest?.time === undefined) {
      return isTooOld(sinceSuccess, this.every) ? noBackupSentence(this.folder) : undefined;
    }
    const { time, age, seenAt } = this.#newest;
    const ageNow = age + now - seenAt;
    const oldest = this.#succeededAt === undefined ? ageNow : Math.min(sinceSuccess, ageNow);
    if (!isTooOld(oldest, this.every)) return undefined;
    return overdueSentence(this.folder, time, this.every);
  }
}

/** Returns whether a backup is overdue by its age; both in milliseconds. */
export function isTooOld(age: number, every: number): boolean {
  return age > OVERDUE_FACTOR * every;
}

/** Returns the sentence, without its period, for a folder that has no complete backup. */
export function noBackupSentence(folder: string): string {
  return `There is no complete backup in ${folder}`;
}

/**
 * Returns the sentence, without its period, for a folder whose newest backup is overdue.
 *
 * @param newest When it was made, in milliseconds since 1970.
 * @param every Milliseconds between two backups.
 */
export function overdueSentence(folder: string, newest: number, every: number): string {
  const seconds = Math.round(every / SECOND);
  return `The newest backup in ${folder} is of ${new Date(newest).toISOString()}, ` +
    `older than ${OVERDUE_FACTOR} × ${seconds} s`;
}

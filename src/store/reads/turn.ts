/**
 * What synchronous reads may take of the process's one thread.
 *
 * @module
 */
import { setImmediate } from "node:timers";

/** How long reads may keep the process from anything else, in milliseconds: reads after that wait for the next turn. */
const TURN_TIME = 1;

/**
 * A turn of the event loop. Promises alone never end it: a loop that awaits only synchronous reads would keep the
 * process from its timers and connections.
 */
export class Turn {
  #began: number | undefined;
  #next: Promise<void> | undefined;

  /**
   * Returns whether the turn has lasted long enough.
   *
   * @param now The monotonic clock, in milliseconds.
   */
  isOver(now: number): boolean {
    if (this.#began === undefined) {
      this.#began = now;
      void this.next();
    }
    return now - this.#began > TURN_TIME;
  }

  /** Resolves in the next turn. */
  next(): Promise<void> {
    return this.#next ??= new Promise((resolve) =>
      setImmediate(() => {
        this.#began = undefined;
        this.#next = undefined;
        resolve();
      })
    );
  }
}

/** A read from memory is quicker than this, in milliseconds: some time for the read, and some for each of its rows. */
const READ_TIME = 0.5;
const ROW_TIME = 0.01;

/** The share of time for which slow reads may block the process, and the time that they may take at once. */
const BLOCKED_SHARE = 0.1;
const BLOCKED_BURST = 20;

/** The most that is held against reads, in milliseconds: a process that was paused during a read waited for no disk. */
const MAX_DEBT = 1000;

/**
 * Limits the time for which synchronous reads wait for a disk: while reads come from memory they cost nothing here, and
 * a disk that is slow or busy soon exhausts it.
 */
export class BlockedTime {
  /** Milliseconds that slow reads took, less what time has paid off since. */
  #debt = 0;
  #since = 0;

  /** Returns whether reads have waited for too long. @param now The monotonic clock, in milliseconds. */
  isExhausted(now: number): boolean {
    if (this.#debt === 0) return false;
    this.#debt = Math.max(0, this.#debt - (now - this.#since) * BLOCKED_SHARE);
    this.#since = now;
    return this.#debt > BLOCKED_BURST;
  }

  add(began: number, ended: number, rows: number): void {
    const time = ended - began;
    if (time <= READ_TIME + rows * ROW_TIME) return;
    if (this.#debt === 0) this.#since = ended;
    this.#debt = Math.min(MAX_DEBT, this.#debt + time);
  }
}

import { GATE_TICK } from "../drive/limits.ts";

/** The time in milliseconds as of the last tick. Asking the system at each step of each request would cost more. */
export class Clock {
  now: number = performance.now();
  readonly #timer: ReturnType<typeof setInterval>;
  readonly #listeners: ((now: number) => void)[] = [];

  constructor() {
    this.#timer = setInterval(() => {
      this.now = performance.now();
      for (const listener of this.#listeners) listener(this.now);
    }, GATE_TICK);
  }

  /** Calls the function every `GATE_TICK`, until the clock is stopped. */
  onTick(listener: (now: number) => void): void {
    this.#listeners.push(listener);
  }

  /** The moment when at least so many milliseconds have passed. */
  in(time: number): number {
    return this.now + time + GATE_TICK;
  }

  stop(): void {
    clearInterval(this.#timer);
  }
}

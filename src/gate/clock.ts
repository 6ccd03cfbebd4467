import { GATE_TICK } from "../drive/limits.ts";

/** The time in milliseconds, as of the last tick: asking the system for each step of each request would cost more. */
export class Clock {
  now: number = performance.now();
  readonly #timer: ReturnType<typeof setInterval>;

  /** @param onTick Called every `GATE_TICK`. */
  constructor(onTick: () => void) {
    this.#timer = setInterval(() => {
      this.now = performance.now();
      onTick();
    }, GATE_TICK);
  }

  /** The moment when at least so many milliseconds have passed. */
  in(time: number): number {
    return this.now + time + GATE_TICK;
  }

  stop(): void {
    clearInterval(this.#timer);
  }
}

import { delay } from "@std/async/delay";
import { SECOND } from "../../rules/units.ts";

/**
 * Runs a test with stopped clocks. `forward` advances both the monotonic and the system clock, `set` only the system
 * clock, in milliseconds.
 */
export async function withClock(
  test: (forward: (ms: number) => void, set: (ms: number) => void) => Promise<void>,
): Promise<void> {
  const [date, monotonic] = [Date.now, performance.now];
  let time = Date.now();
  // Whole milliseconds, so that steps add up exactly.
  let passed = Math.round(performance.now());
  Date.now = () => time;
  performance.now = () => passed;
  const forward = (ms: number): void => {
    time += ms;
    passed += ms;
  };
  try {
    await test(forward, (ms) => void (time += ms));
  } finally {
    Date.now = date;
    performance.now = monotonic;
  }
}

/** Returns a function that does some work at its first call only. */
export function once(work: () => Promise<void>): () => Promise<void> {
  let isDone = false;
  return async () => {
    if (isDone) return;
    isDone = true;
    await work();
  };
}

/** Waits until a condition is met. @throws after 30 s. */
export async function until(isMet: () => boolean | Promise<boolean>): Promise<void> {
  const end = Date.now() + 30 * SECOND;
  while (!await isMet()) {
    if (Date.now() > end) throw new Error("The condition was never met");
    await delay(1);
  }
}

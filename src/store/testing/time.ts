/**
 * Runs a test with clocks that stand: gives a way to let time pass, and one to set the system's clock without that.
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

/** Does something at the first call. */
export function once(work: () => Promise<void>): () => Promise<void> {
  let isDone = false;
  return async () => {
    if (isDone) return;
    isDone = true;
    await work();
  };
}

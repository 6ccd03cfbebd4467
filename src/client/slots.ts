/** Lets so many at once hold a slot; the others wait in order. */
export class Slots {
  #free: number;
  readonly #waiting: (() => void)[] = [];

  constructor(count: number) {
    this.#free = count;
  }

  /** Gives what lets the slot go. */
  async take(): Promise<() => void> {
    if (this.#free > 0) this.#free--;
    else await new Promise<void>((resolve) => this.#waiting.push(resolve));
    let held = true;
    return () => {
      if (!held) return;
      held = false;
      const next = this.#waiting.shift();
      if (next === undefined) this.#free++;
      else next();
    };
  }
}

/**
 * Works on items, so many of them at once. After a failure no further one is begun; it is thrown when those that run
 * have ended.
 */
export async function eachAtOnce<T>(
  items: AsyncIterable<T>,
  count: number,
  work: (item: T) => Promise<void>,
): Promise<void> {
  const slots = new Slots(count);
  const running = new Set<Promise<void>>();
  let failure: { error: unknown } | undefined;
  try {
    for await (const item of items) {
      const letGo = await slots.take();
      if (failure !== undefined) break;
      const one = work(item).catch((error: unknown) => {
        failure ??= { error };
      }).finally(() => {
        running.delete(one);
        letGo();
      });
      running.add(one);
    }
  } finally {
    await Promise.all(running);
  }
  if (failure !== undefined) throw failure.error;
}

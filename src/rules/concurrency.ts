/** Limits how many tasks run at once; the others wait in the order of arrival. */
export class Semaphore {
  #free: number;
  readonly #waiting: (() => void)[] = [];

  /** @param slots Tasks that may run at once. */
  constructor(slots: number) {
    this.#free = slots;
  }

  /** Runs a task once a slot is free. Returns or throws what the task does. */
  async run<T>(task: () => Promise<T>): Promise<T> {
    const release = await this.acquire();
    try {
      return await task();
    } finally {
      release();
    }
  }

  /** Waits for a free slot. Returns a function that releases it; calling that again has no effect. */
  async acquire(): Promise<() => void> {
    if (this.#free > 0) this.#free--;
    else await new Promise<void>((resolve) => this.#waiting.push(resolve));
    let isHeld = true;
    return () => {
      if (!isHeld) return;
      isHeld = false;
      const next = this.#waiting.shift();
      if (next === undefined) this.#free++;
      else next();
    };
  }
}

/** Runs one task at a time for each key, in the order of arrival. Tasks of other keys do not wait. */
export class KeyedMutex {
  readonly #tails = new Map<string, Promise<void>>();

  /** Runs a task after all earlier tasks of the key. Returns or throws what the task does. */
  async run<T>(key: string, task: () => Promise<T>): Promise<T> {
    const before = this.#tails.get(key);
    const { promise: done, resolve } = Promise.withResolvers<void>();
    this.#tails.set(key, done);
    try {
      await before;
      return await task();
    } finally {
      if (this.#tails.get(key) === done) this.#tails.delete(key);
      resolve();
    }
  }
}

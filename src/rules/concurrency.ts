/** Lets a number of pieces of work run at once; the others wait in the order of arrival. */
export class Semaphore {
  #free: number;
  readonly #waiting: (() => void)[] = [];

  constructor(size: number) {
    this.#free = size;
  }

  /** Runs the work when there is a place, and gives what it gives. */
  async run<T>(work: () => Promise<T>): Promise<T> {
    const release = await this.acquire();
    try {
      return await work();
    } finally {
      release();
    }
  }

  /** Waits for a place, and returns the function that releases it, which may be called more than once. */
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

/** Lets one piece of work at a time run for a key, in the order of arrival. Other keys don't wait. */
export class KeyedMutex {
  readonly #tails = new Map<string, Promise<void>>();

  /** Runs the work when all earlier work on the key has ended, and gives what it gives. */
  async run<T>(key: string, work: () => Promise<T>): Promise<T> {
    const before = this.#tails.get(key);
    const { promise: done, resolve } = Promise.withResolvers<void>();
    this.#tails.set(key, done);
    try {
      await before;
      return await work();
    } finally {
      if (this.#tails.get(key) === done) this.#tails.delete(key);
      resolve();
    }
  }
}

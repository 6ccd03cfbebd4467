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

/** The largest and the smallest piece that is passed on at once, in bytes. */
const MAX_PIECE = 64 * 1024;
const MIN_PIECE = 1024;

/** Pieces in a second, so that the stream is even. */
const PIECES_PER_SECOND = 8;

export interface RateClock {
  /** Milliseconds. */
  now: () => number;
  pause: (milliseconds: number) => Promise<void>;
}

const SYSTEM_CLOCK: RateClock = {
  now: () => performance.now(),
  pause: (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds)),
};

/** Limits the bytes that all its users transfer in a second. */
export class RateLimiter {
  readonly bytesPerSecond: number;
  readonly #piece: number;
  /** When the bytes that were promised so far are over. */
  #end = 0;

  constructor(bytesPerSecond: number, private readonly clock: RateClock = SYSTEM_CLOCK) {
    this.bytesPerSecond = bytesPerSecond;
    const piece = Math.floor(bytesPerSecond / PIECES_PER_SECOND);
    this.#piece = Math.min(MAX_PIECE, Math.max(MIN_PIECE, piece));
  }

  /** Waits until so many bytes have had their time. Unused time is not saved up. */
  async take(bytes: number): Promise<void> {
    const now = this.clock.now();
    this.#end = Math.max(this.#end, now) + bytes / this.bytesPerSecond * 1000;
    await this.clock.pause(this.#end - now);
  }

  /** Passes bytes on in small pieces, at the permitted rate. */
  async *pace(bytes: Uint8Array): AsyncGenerator<Uint8Array<ArrayBuffer>> {
    for (let at = 0; at < bytes.byteLength; at += this.#piece) {
      const piece = bytes.subarray(at, at + this.#piece) as Uint8Array<ArrayBuffer>;
      await this.take(piece.byteLength);
      yield piece;
    }
  }
}

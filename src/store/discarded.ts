/** Bytes that were given up since the last sweep from which on the next one begins at once: seven parts. */
const SWEEP_FROM_BYTES = 64 * 2 ** 20;

/**
 * Counts bytes that were stored and given up again, by aborts, by parts that were sent again and by writes that failed.
 * They count towards no quota any more, so the sweeper must not leave them on the disk for long where they are many.
 */
export class Discarded {
  readonly #wake: () => void;
  #bytes = 0;

  /** @param wake Makes the sweeper remove them. */
  constructor(wake: () => void) {
    this.#wake = wake;
  }

  add(bytes: number): void {
    this.#bytes += bytes;
    if (this.#bytes < SWEEP_FROM_BYTES) return;
    this.#bytes = 0;
    this.#wake();
  }
}

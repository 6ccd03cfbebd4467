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

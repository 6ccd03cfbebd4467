import { CHUNK_SIZE } from "../engine/records.ts";

/** Returns how many chunks hold this many bytes. */
export function chunkCount(size: number): number {
  return Math.ceil(size / CHUNK_SIZE);
}

/**
 * Cuts a body into chunks of exactly `CHUNK_SIZE` bytes, the last one shorter. An empty body yields no chunk. Every
 * chunk has a buffer of its own, into which each piece is copied before the next one is requested.
 *
 * @param announced Size of the whole body, if known. It only saves memory and need not be true.
 */
export async function* cutIntoChunks(
  body: AsyncIterable<Uint8Array>,
  announced?: number,
): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  let yielded = 0;
  let chunk: PartialChunk | undefined;
  for await (let piece of body) {
    while (piece.byteLength > 0) {
      chunk ??= new PartialChunk(expectedSize(announced, yielded, piece));
      piece = piece.subarray(chunk.take(piece));
      if (!chunk.isFull) continue;
      yielded += CHUNK_SIZE;
      yield chunk.finish();
      chunk = undefined;
    }
  }
  if (chunk !== undefined) yield chunk.finish();
}

/**
 * Returns the probable size of a chunk from its first piece: most bodies are small, and most of those are one piece.
 */
function expectedSize(announced: number | undefined, yielded: number, piece: Uint8Array): number {
  const rest = announced === undefined ? 0 : announced - yielded;
  if (rest > 0 || yielded === 0) return Math.min(CHUNK_SIZE, Math.max(rest, piece.byteLength));
  return CHUNK_SIZE;
}

/** A chunk that is being filled. */
class PartialChunk {
  #buffer: Uint8Array<ArrayBuffer>;
  #size = 0;

  /** @param expected Probable size. If the chunk becomes larger, it is copied once into a buffer of `CHUNK_SIZE`. */
  constructor(expected: number) {
    this.#buffer = new Uint8Array(expected);
  }

  get isFull(): boolean {
    return this.#size === CHUNK_SIZE;
  }

  /** Copies as many bytes as fit. Returns how many. */
  take(piece: Uint8Array): number {
    const taken = Math.min(piece.byteLength, CHUNK_SIZE - this.#size);
    if (this.#size + taken > this.#buffer.byteLength) this.#grow();
    this.#buffer.set(taken === piece.byteLength ? piece : piece.subarray(0, taken), this.#size);
    this.#size += taken;
    return taken;
  }

  /** Returns the bytes in a buffer of exactly their size. */
  finish(): Uint8Array<ArrayBuffer> {
    const isExact = this.#size === this.#buffer.byteLength;
    return isExact ? this.#buffer : this.#buffer.slice(0, this.#size);
  }

  #grow(): void {
    const whole = new Uint8Array(CHUNK_SIZE);
    whole.set(this.#buffer.subarray(0, this.#size));
    this.#buffer = whole;
  }
}

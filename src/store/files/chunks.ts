import { CHUNK_SIZE } from "../engine/records.ts";

/**
 * Cuts bytes as they come into chunks of exactly `CHUNK` bytes, the last one shorter. Nothing at all gives no chunk.
 * Each chunk has a buffer of its own, which the pieces are copied into as they come: none of them is kept.
 *
 * @param announced How many bytes come in all, where that is known before; it only saves memory.
 */
export async function* cutIntoChunks(
  body: AsyncIterable<Uint8Array>,
  announced?: number,
): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  let given = 0;
  let filling: Filling | undefined;
  for await (let piece of body) {
    while (piece.byteLength > 0) {
      filling ??= new Filling(expectedSize(announced, given, piece));
      piece = piece.subarray(filling.take(piece));
      if (!filling.isFull) continue;
      given += CHUNK_SIZE;
      yield filling.finish();
      filling = undefined;
    }
  }
  if (filling !== undefined) yield filling.finish();
}

/** How many chunks hold so many bytes. */
export function chunkCount(size: number): number {
  return Math.ceil(size / CHUNK_SIZE);
}

/** How many bytes the chunk that begins with a piece probably has: small bodies are many, and mostly one piece. */
function expectedSize(announced: number | undefined, given: number, piece: Uint8Array): number {
  const rest = announced === undefined ? 0 : announced - given;
  if (rest > 0 || given === 0) return Math.min(CHUNK_SIZE, Math.max(rest, piece.byteLength));
  return CHUNK_SIZE;
}

/** A chunk that is being filled. */
class Filling {
  #buffer: Uint8Array<ArrayBuffer>;
  #size = 0;

  /** @param expected Bytes that it probably has. With more of them it gets the buffer of a whole chunk, once. */
  constructor(expected: number) {
    this.#buffer = new Uint8Array(expected);
  }

  get isFull(): boolean {
    return this.#size === CHUNK_SIZE;
  }

  /** Copies as many bytes as there is room for; gives how many. */
  take(piece: Uint8Array): number {
    const taken = Math.min(piece.byteLength, CHUNK_SIZE - this.#size);
    if (this.#size + taken > this.#buffer.byteLength) this.#grow();
    this.#buffer.set(taken === piece.byteLength ? piece : piece.subarray(0, taken), this.#size);
    this.#size += taken;
    return taken;
  }

  /** The bytes, in a buffer of exactly their size. */
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

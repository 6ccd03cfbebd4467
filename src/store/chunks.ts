import { CHUNK } from "../drive/limits.ts";

/**
 * Cuts bytes as they come into chunks of exactly `CHUNK` bytes, the last one shorter. Nothing at all gives no chunk.
 * Each chunk has a buffer of its own.
 */
export async function* cutIntoChunks(
  body: AsyncIterable<Uint8Array>,
): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  let gathered: Uint8Array[] = [];
  let size = 0;
  for await (let piece of body) {
    while (size + piece.byteLength >= CHUNK) {
      const head = piece.subarray(0, CHUNK - size);
      yield join([...gathered, head], CHUNK);
      piece = piece.subarray(head.byteLength);
      gathered = [];
      size = 0;
    }
    if (piece.byteLength > 0) gathered.push(piece);
    size += piece.byteLength;
  }
  if (size > 0) yield join(gathered, size);
}

/** How many chunks hold so many bytes. */
export function chunkCount(size: number): number {
  return Math.ceil(size / CHUNK);
}

function join(pieces: readonly Uint8Array[], size: number): Uint8Array<ArrayBuffer> {
  const joined = new Uint8Array(size);
  let at = 0;
  for (const piece of pieces) {
    joined.set(piece, at);
    at += piece.byteLength;
  }
  return joined;
}

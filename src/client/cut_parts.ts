/** A part of a file, numbered from 1. */
export interface CutPart {
  number: number;
  bytes: Uint8Array;
  isLast: boolean;
}

/** Cuts bytes into parts of one size, of which the last may be smaller; of no bytes it is one empty part. */
export async function* cutParts(
  pieces: AsyncIterable<Uint8Array>,
  size: number,
): AsyncGenerator<CutPart, void> {
  let buffer = new Uint8Array(0);
  let filled = 0;
  let number = 1;
  for await (let piece of pieces) {
    while (piece.byteLength > 0) {
      if (filled === size) {
        yield { number: number++, bytes: buffer, isLast: false };
        buffer = new Uint8Array(size);
        filled = 0;
      }
      const taken = piece.subarray(0, size - filled);
      buffer = withRoom(buffer, filled, filled + taken.byteLength, size);
      buffer.set(taken, filled);
      filled += taken.byteLength;
      piece = piece.subarray(taken.byteLength);
    }
  }
  yield { number, bytes: buffer.subarray(0, filled), isLast: true };
}

/** Grows by doubling: most files are smaller than one part. */
function withRoom(
  buffer: Uint8Array<ArrayBuffer>,
  filled: number,
  needed: number,
  size: number,
): Uint8Array<ArrayBuffer> {
  if (needed <= buffer.byteLength) return buffer;
  const larger = new Uint8Array(Math.min(size, Math.max(needed, buffer.byteLength * 2)));
  larger.set(buffer.subarray(0, filled));
  return larger;
}

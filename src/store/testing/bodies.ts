import type { Place } from "../engine/records.ts";

export const DRIVE = { project: "p", drive: "d" };

export function place(name: string): Place {
  return { ...DRIVE, name };
}

/** Bytes that differ from those of another seed. */
export function bytes(size: number, seed = 1): Uint8Array<ArrayBuffer> {
  return Uint8Array.from({ length: size }, (_, i) => (i * 31 + (i >> 8) * 7 + seed * 101) & 0xff);
}

/** A body that comes in pieces of an awkward length. */
export async function* inPieces(data: Uint8Array, length = 50_001): AsyncGenerator<Uint8Array> {
  for (let i = 0; i < data.byteLength; i += length) {
    await Promise.resolve();
    yield data.subarray(i, i + length);
  }
}

/** A body that breaks after some bytes. */
export async function* broken(size: number): AsyncGenerator<Uint8Array> {
  yield* inPieces(bytes(size));
  throw new Error("The sender left");
}

export const ANYWAY = { type: "a/b", condition: () => true, accept: () => {} };

import { MIB, patternBytes } from "../../support/bytes.ts";

/** What all bodies are cut from: the place tells them apart. */
const BASE = patternBytes(16 * MIB, 20_211_122);
const PLACES = 8 * MIB;

let count = 0;

/** A body that was never sent before: `<number>:<bytes>`, from which its bytes follow. */
export type BodyId = string;

export function newNumber(): number {
  return ++count;
}

export function newBody(size: number): BodyId {
  return `${newNumber()}:${size}`;
}

export function sizeOf(body: BodyId): number {
  return Number(body.split(":")[1]);
}

export function bytesOf(body: BodyId): Uint8Array<ArrayBuffer> {
  const [number, size] = body.split(":").map(Number);
  // The factor has no common divisor with the number of places, so no two bodies of a run begin at the same.
  const start = ((number ?? 0) * 251) % PLACES;
  return BASE.subarray(start, start + (size ?? 0));
}

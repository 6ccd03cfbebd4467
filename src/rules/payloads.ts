import { MIB } from "./units.ts";

/** "The maximum payload is 10 MB"; both readings of MB are accepted, so the larger one is the limit. */
export const MAX_PAYLOAD = 10 * MIB;

/** "Each chunk is at least 5 MB … The final chunk may be smaller"; the smaller reading of MB is the limit. */
export const MIN_PART = 5_000_000;

/** Parts of one upload: the specification names no number; the wire contract has 1 to 10,000. */
export const MAX_PARTS = 10_000;

/** What the rules need to know of a part that was received. */
export interface PartSize {
  part: number;
  /** Bytes. */
  size: number;
}

/** How many part numbers a sentence names before it says how many more there are. */
const NAMED = 10;

/**
 * Why these parts, in ascending order, don't make a file; `undefined` if they do. "Each chunk is at least 5 MB and at
 * most 10 MB. The final chunk may be smaller than 5 MB." The parts must be 1…n without a gap.
 */
export function partsProblem(parts: readonly PartSize[]): string | undefined {
  const last = parts.at(-1)?.part ?? 0;
  const received = new Set(parts.map((part) => part.part));
  const missing = Array.from({ length: last }, (_, i) => i + 1).filter((n) => !received.has(n));
  if (missing.length > 0) {
    return `Cannot complete the upload: ${
      name(missing)
    } missing of parts 1 to ${last}; upload what is missing`;
  }
  const small = parts.filter((part) => part.part !== last && part.size < MIN_PART);
  if (small.length === 0) return undefined;
  return `Cannot complete the upload: ${
    name(small.map((part) => part.part))
  } smaller than ${MIN_PART} bytes; only the last part may be`;
}

/** "part 2 is", "parts 2, 3 are", "parts 1, 2, … and 90 more are". */
function name(parts: readonly number[]): string {
  const named = parts.slice(0, NAMED).join(", ");
  const more = parts.length > NAMED ? ` and ${parts.length - NAMED} more` : "";
  return parts.length === 1 ? `part ${named} is` : `parts ${named}${more} are`;
}

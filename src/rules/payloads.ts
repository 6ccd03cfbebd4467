/**
 * The sizes of uploaded bodies, and how the parts of a chunked upload make a file.
 *
 * @module
 */
import { MIB } from "./units.ts";

/** "The maximum payload is 10 MB", in bytes: both readings of MB are accepted, so the larger one is the limit. */
export const MAX_PAYLOAD = 10 * MIB;

/** "Each chunk is at least 5 MB", in bytes: the smaller reading of MB is the limit. */
export const MIN_PART = 5_000_000;

/** Parts of one upload: "`part` is 1 to 10,000" (docs/contract.md, Uploads). */
export const MAX_PARTS = 10_000;

/** Part numbers that a message lists before it counts the rest. */
const MAX_LISTED = 10;

/** A part that was received. */
export interface PartSize {
  /** Its number, from 1 on. */
  part: number;
  /** Bytes. */
  size: number;
}

/**
 * Checks that parts make a file. "Parts must be 1…n without a gap, all but the last of the minimum size" (wire
 * contract).
 *
 * @param parts In ascending order. None at all make an empty file.
 * @returns A sentence for the caller that names the offending parts; `undefined` if the upload can be completed.
 */
export function partsProblem(parts: readonly PartSize[]): string | undefined {
  const problems = [missingProblem(parts), smallProblem(parts)].filter((one) => one !== undefined);
  return problems.length === 0
    ? undefined
    : `Cannot complete the upload: ${problems.join("; and ")}`;
}

function missingProblem(parts: readonly PartSize[]): string | undefined {
  const last = parts.at(-1)?.part ?? 0;
  const received = new Set(parts.map(({ part }) => part));
  const missing = Array.from({ length: last }, (_, i) => i + 1).filter((n) => !received.has(n));
  if (missing.length === 0) return undefined;
  const [which, are, them] = listParts(missing);
  return `${which} of ${last} ${are} missing; upload ${them} first`;
}

/** "The final chunk may be smaller than 5 MB." */
function smallProblem(parts: readonly PartSize[]): string | undefined {
  const small = parts.slice(0, -1).filter(({ size }) => size < MIN_PART);
  if (small.length === 0) return undefined;
  const [which, are] = listParts(small.map(({ part }) => part));
  return `${which} ${are} smaller than ${MIN_PART} bytes; only the last part may be`;
}

/** Returns "part 2", "is" and "it", or "parts 2, 3 and 90 more", "are" and "them". */
function listParts(parts: readonly number[]): [which: string, are: string, them: string] {
  if (parts.length === 1) return [`part ${parts[0]}`, "is", "it"];
  const more = parts.length > MAX_LISTED ? ` and ${parts.length - MAX_LISTED} more` : "";
  return [`parts ${parts.slice(0, MAX_LISTED).join(", ")}${more}`, "are", "them"];
}

import { MAX_PARTS, PART_SIZE } from "./limits.js";

/**
 * A part of a file: bytes from `start` up to, not including, `end`.
 *
 * @typedef {{part: number, start: number, end: number}} PlannedPart
 */

/** The largest file, in bytes, for parts of a size. */
export const MAX_FILE = MAX_PARTS * PART_SIZE;

/**
 * The parts of a file in their order, numbered from 1.
 *
 * @param {number} size bytes of the file
 * @param {number} partSize bytes of every part but the last
 * @returns {PlannedPart[]}
 */
export function planParts(size, partSize = PART_SIZE) {
  const count = Math.ceil(size / partSize);
  return Array.from({ length: count }, (_, index) => ({
    part: index + 1,
    start: index * partSize,
    end: Math.min(size, (index + 1) * partSize),
  }));
}

/**
 * The parts that the server does not have. A part of an unexpected size counts as missing: sent again, it
 * replaces the old one.
 *
 * @param {readonly PlannedPart[]} plan
 * @param {readonly {part: number, size: number}[]} received
 * @returns {PlannedPart[]}
 */
export function missingParts(plan, received) {
  const sizes = new Map(received.map(({ part, size }) => [part, size]));
  return plan.filter(({ part, start, end }) => sizes.get(part) !== end - start);
}

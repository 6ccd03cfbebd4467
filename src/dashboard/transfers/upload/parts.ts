/** How a file is cut into requests. Sizes are bytes. */

const MIB = 2 ** 20;

/** Larger files are sent in parts: the server takes 10 MB in one request. */
export const SINGLE_REQUEST = 10_000_000;

/**
 * The size of a part, the largest that the server takes; the last part is smaller. An upload of an earlier page continues
 * with parts of this size: another one needs another `KEY` of its records.
 */
export const PART_SIZE = 10 * MIB;

/** The most parts of an upload (the server's limit). */
const MAX_PARTS = 10_000;

export const MAX_FILE = MAX_PARTS * PART_SIZE;

/** A part of a file: bytes from `start` up to, not including, `end`. */
export interface PlannedPart {
  part: number;
  start: number;
  end: number;
}

export interface StoredPart {
  part: number;
  size: number;
}

/**
 * Returns the parts of a file that the server does not have, in their order, numbered from 1. One of an unexpected size
 * counts as missing: sent again, it replaces the earlier one.
 */
export function missingParts(size: number, stored: readonly StoredPart[] = []): PlannedPart[] {
  const sizes = new Map(stored.map(({ part, size }) => [part, size]));
  const plan = Array.from({ length: Math.ceil(size / PART_SIZE) }, (_, index) => ({
    part: index + 1,
    start: index * PART_SIZE,
    end: Math.min(size, (index + 1) * PART_SIZE),
  }));
  return plan.filter(({ part, start, end }) => sizes.get(part) !== end - start);
}

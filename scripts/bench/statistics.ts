import type { Row } from "./experiment.ts";

/** What was measured for a row. */
export interface Result {
  row: Row;
  median: number;
  min: number;
  max: number;
  /** The median of the limit. */
  limit: number;
  /** `median / limit`. */
  ratio: number;
  holds: boolean;
  /** The median of the other git state, where one was measured. */
  against?: number;
}

/** Judges the figures of all rounds. */
export function resultOf(
  row: Row,
  { work, limit, against = [] }: {
    work: readonly number[];
    limit: readonly number[];
    against?: readonly number[];
  },
): Result {
  const median = percentile(work, 50);
  const limitMedian = percentile(limit, 50);
  const ratio = median / limitMedian;
  return {
    row,
    median,
    min: Math.min(...work),
    max: Math.max(...work),
    limit: limitMedian,
    ratio,
    holds: row.bound === "at least" ? ratio >= row.required : ratio <= row.required,
    ...(against.length === 0 ? {} : { against: percentile(against, 50) }),
  };
}

/** The value below which `percent` of the figures lie, as one of them, or between the middle two for an even median. */
export function percentile(figures: readonly number[], percent: number): number {
  const sorted = [...figures].sort((a, b) => a - b);
  const at = (sorted.length - 1) * percent / 100;
  const below = sorted[Math.floor(at)];
  const above = sorted[Math.ceil(at)];
  if (below === undefined || above === undefined) throw new RangeError("There are no figures");
  return percent === 50 ? (below + above) / 2 : above;
}

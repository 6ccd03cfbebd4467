import { delay } from "@std/async/delay";
import type { RunLoad } from "./load.ts";
import type { Scope } from "./scope.ts";
import type { Checkout, Checkouts } from "./server.ts";
import type { Stock } from "./stock.ts";

/** A line of the report, and when it holds. */
export interface Row {
  name: string;
  unit: string;
  /** Whether the ratio of work to limit has to be at least or at most `required`. */
  bound: "at least" | "at most";
  required: number;
}

/** Measures once. @returns a figure for each row of the experiment. */
export type Measure = () => Promise<readonly number[]>;

/** The two that take turns. */
interface Comparison {
  work: Measure;
  limit: Measure;
}

/** What an experiment works with. */
export interface Stage {
  /** Ends with the experiment. */
  scope: Scope;
  load: RunLoad;
  stock: Stock;
  full: boolean;
}

/** Something to measure, with one row or a few. */
export interface Experiment {
  rows: readonly Row[];
  /** Whether it means something with drives of full size only. */
  onlyFull?: true;
  /** Starts what is needed and checks its answers. */
  prepare(stage: Stage, checkout: Checkout): Promise<Comparison>;
}

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

/** How often each side is measured, after once to warm up. */
export const ROUNDS = 5;

/** Between two measurements, for what the last one left running. Milliseconds. */
const PAUSE = 100;

/** Measures an experiment in rounds. @returns a result for each of its rows. */
export async function runExperiment(
  { rows, prepare }: Experiment,
  stage: Stage,
  { current, other }: Checkouts,
): Promise<Result[]> {
  const { work, limit } = await prepare(stage, current);
  const against = other === undefined ? undefined : await prepare(stage, other);
  const rounds = await alternate(sidesOf({ work, limit }, against), ROUNDS, PAUSE);
  return rows.map((row, i) => {
    const figures = (side: number): number[] =>
      rounds.map((round) => round[side]?.[i] ?? Number.NaN);
    return resultOf(row, {
      work: figures(0),
      limit: figures(1),
      ...(against === undefined ? {} : { against: figures(2) }),
    });
  });
}

function sidesOf({ work, limit }: Comparison, against: Comparison | undefined): Measure[] {
  return against === undefined ? [work, limit] : [work, limit, against.work];
}

/** Warms each side up, then measures all in every round, in reversed order every second time. */
export async function alternate(
  sides: readonly Measure[],
  rounds: number,
  pause: number,
): Promise<(readonly number[])[][]> {
  for (const measure of sides) await measure();
  const taken: (readonly number[])[][] = [];
  for (let round = 0; round < rounds; round++) {
    const figures: (readonly number[])[] = [];
    const order = [...sides.keys()];
    for (const side of round % 2 === 0 ? order : order.toReversed()) {
      await delay(pause);
      figures[side] = await sides[side]?.() ?? [];
    }
    taken.push(figures);
  }
  return taken;
}

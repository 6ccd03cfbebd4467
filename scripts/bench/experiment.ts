import type { Checkout } from "./checkout.ts";
import type { RunLoad } from "./load.ts";
import type { Scope } from "./scope.ts";
import type { Stock } from "./stock.ts";

/** A line of the report, and when it holds. */
export interface Row {
  name: string;
  unit: string;
  /** Whether the ratio of work to limit has to be at least or at most `required`. */
  bound: "at least" | "at most";
  required: number;
}

/** Measures once; gives a figure for each row of the experiment. */
export type Measure = () => Promise<readonly number[]>;

/** The two that take turns. */
export interface Contest {
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

/** Something to measure, which gives one row or a few. */
export interface Experiment {
  rows: readonly Row[];
  /** Starts what is needed and checks its answers. */
  prepare(stage: Stage, checkout: Checkout): Promise<Contest>;
}

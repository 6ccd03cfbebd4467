import { delay } from "@std/async/delay";
import { join } from "@std/path/join";
import { type Load, type LoadResult, type RunLoad, sendEach } from "./load.ts";
import type { Scope } from "./scope.ts";
import { type Checkout, type Checkouts, inDrive, Server } from "./server.ts";

/** A line of the report, and when it holds. */
export interface Row {
  name: string;
  unit: string;
  /** The bound of the ratio of work to limit. */
  bound: "at least" | "at most";
  required: number;
}

/** Measures once. Returns a figure for each row of the experiment. */
export type Measure = () => Promise<readonly number[]>;

/** What takes turns: the work, and what it is compared with. */
export interface Comparison {
  work: Measure;
  limit: Measure;
}

/** What an experiment works with. */
export interface Stage {
  /** Ends with the experiment. */
  scope: Scope;
  /** Sends a load with the key of the project. */
  load: RunLoad;
  stock: Stock;
}

/** Something to measure, with one row or a few. */
export interface Experiment {
  rows: readonly Row[];
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
  /** The median of the other git state, if one was measured. */
  against?: number;
}

/** Measures one figure of a load. @param loadOf Returns the load, which gets the number of the measurement for new names. */
export function figureOf(
  { scope, load }: Stage,
  figure: keyof LoadResult,
  loadOf: (run: number) => Load,
): Measure {
  let run = 0;
  return async () => [(await load(scope, loadOf(run++)))[figure]];
}

/** Returns the figure that so many percent do not exceed; the mean of the middle two for an even median. */
export function percentile(figures: readonly number[], percent: number): number {
  const sorted = [...figures].sort((a, b) => a - b);
  const at = (sorted.length - 1) * percent / 100;
  const below = sorted[Math.floor(at)];
  const above = sorted[Math.ceil(at)];
  if (below === undefined || above === undefined) throw new RangeError("There are no figures");
  return percent === 50 ? (below + above) / 2 : above;
}

/** Between two measurements, for what the last one left running. Milliseconds. */
const PAUSE = 100;

/** Measures an experiment in rounds. Returns a result for each of its rows. */
export async function runExperiment(
  { rows, prepare }: Experiment,
  stage: Stage,
  { current, other }: Checkouts,
  rounds: number,
): Promise<Result[]> {
  const { work, limit } = await prepare(stage, current);
  const sides = [work, limit];
  if (other !== undefined) sides.push((await prepare(stage, other)).work);
  const taken = await alternate(sides, rounds);
  return rows.map((row, i) => {
    const figures = sides.map((_, side) => taken.map((round) => round[side]?.[i] ?? NaN));
    return resultOf(row, figures);
  });
}

/** Warms each side up, then measures all in every round, in reversed order every second time. */
async function alternate(
  sides: readonly Measure[],
  rounds: number,
): Promise<(readonly number[])[][]> {
  for (const measure of sides) await measure();
  const taken: (readonly number[])[][] = [];
  for (let round = 0; round < rounds; round++) {
    const figures: (readonly number[])[] = [];
    const order = [...sides.keys()];
    for (const side of round % 2 === 0 ? order : order.toReversed()) {
      await delay(PAUSE);
      figures[side] = await sides[side]?.() ?? [];
    }
    taken.push(figures);
  }
  return taken;
}

/** Judges the figures of all rounds: of the work, the limit, and the other git state. */
export function resultOf(
  row: Row,
  [work = [], limit = [], against]: readonly (readonly number[])[],
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
    ...(against === undefined ? {} : { against: percentile(against, 50) }),
  };
}

/** Files in each of the ten directories of the large drive, and in the small drive. */
const DIRECTORIES = 10;
const SMALL_DRIVE = 1000;
const FILE_SIZE = 4096;

/** Stores with the drives `large` and `small`. They are made when first asked for, once for each checkout. */
export class Stock {
  readonly #folders = new Map<Checkout, Promise<string>>();

  /** @param files Files in the large drive. */
  constructor(private readonly scope: Scope, readonly files: number) {}

  /** The names in the large drive. */
  get names(): string[] {
    return Array.from({ length: this.files }, (_, n) => {
      const number = String(Math.floor(n / DIRECTORIES)).padStart(10, "0");
      return `d${n % DIRECTORIES}/file-${number}`;
    });
  }

  /** Starts a server on such a store. One at a time may run. */
  async start(scope: Scope, checkout: Checkout): Promise<Server> {
    return await Server.start(scope, checkout, await this.folder(checkout));
  }

  /** The data folder. */
  folder(checkout: Checkout): Promise<string> {
    const folder = this.#folders.get(checkout) ?? this.#fill(checkout);
    this.#folders.set(checkout, folder);
    return folder;
  }

  async #fill(checkout: Checkout): Promise<string> {
    const folder = join(await this.scope.makeFolder(), "data");
    const server = await Server.start(this.scope, checkout, folder);
    const put = async (drive: string, name: string, count: number): Promise<void> => {
      const target = inDrive(drive, `/files?name=${name}`);
      const load = { origin: server.origin, method: "POST", target } as const;
      const sent = { ...load, body: FILE_SIZE, connections: 64, seconds: 0 };
      await sendEach(this.scope, sent, count);
    };
    for (let d = 0; d < DIRECTORIES; d++) {
      await put("large", `d${d}/file-{n}`, this.files / DIRECTORIES);
    }
    await put("small", "file-{n}", SMALL_DRIVE);
    await server.stop();
    return folder;
  }
}

import { delay } from "@std/async/delay";
import type { Checkouts } from "./checkout.ts";
import type { Contest, Experiment, Measure, Stage } from "./experiment.ts";
import { type Result, resultOf } from "./statistics.ts";

/** How often each side is measured, after once to warm up. */
export const ROUNDS = 5;

/** Between two measurements, for what the last one left running. Milliseconds. */
const PAUSE = 100;

/** Measures an experiment in rounds; gives a result for each of its rows. */
export async function runExperiment(
  { rows, prepare }: Experiment,
  stage: Stage,
  { current, other }: Checkouts,
): Promise<Result[]> {
  const { work, limit } = await prepare(stage, current);
  const against = other === undefined ? undefined : await prepare(stage, other);
  const rounds = await takeTurns(sidesOf({ work, limit }, against), ROUNDS, PAUSE);
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

function sidesOf({ work, limit }: Contest, against: Contest | undefined): Measure[] {
  return against === undefined ? [work, limit] : [work, limit, against.work];
}

/** Warms each side up, then measures all in every round, in reversed order every second time. */
export async function takeTurns(
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

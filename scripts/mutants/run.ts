import { type Mutant, mutate, type Mutation } from "./mutant.ts";
import { type TestRun, TreeCopy } from "./tree_copy.ts";

/** What the tests of a mutant may take, in milliseconds: a multiple of their time without the change, and some more. */
const TIME_FACTOR = 3;
const MIN_TIME_LIMIT = 20_000;

/** The longest run of tests without a change, in milliseconds. */
const UNCHANGED_TIME_LIMIT = 120_000;

/**
 * `killed`: a test failed, or hung. `explained`: no test failed, for the reason in the table. `error`: the table is wrong,
 * or the tests fail without the change.
 */
export type Outcome = "killed" | "survived" | "explained" | "error";

export interface Result {
  mutant: Mutant;
  outcome: Outcome;
  /** The line of the change; `undefined` if it could not be made. */
  line: number | undefined;
  /** The test that failed, the reason, or the error. */
  detail: string;
  /** Of its tests, in milliseconds. */
  time: number;
}

export interface RunOptions {
  /** The project, and its files and folders that the tests need. */
  root: string;
  parts: readonly string[];
  /** Mutants that are tested at the same time. */
  jobs: number;
  /** Where temporary folders are made. */
  dir?: string | undefined;
  /** The shortest time limit, in milliseconds. */
  minTimeLimit?: number;
  onResult?: (result: Result) => void;
}

/**
 * Makes each change in a copy of the project and runs its tests. Changes that do not pass the type check are errors, as a
 * test that cannot start proves nothing.
 */
export async function testMutants(
  mutants: readonly Mutant[],
  options: RunOptions,
): Promise<Result[]> {
  const results: Result[] = [];
  const report = (result: Result): void => {
    results.push(result);
    options.onResult?.(result);
  };
  await using copies = new AsyncDisposableStack();
  const copy = async (): Promise<TreeCopy> => copies.use(await TreeCopy.make(options, options.dir));
  const workers = await Promise.all(Array.from({ length: options.jobs }, copy));
  const valid = await withoutTypeErrors(workers, mutants, report);
  const unchanged = await runUnchanged(workers, valid);
  await share(workers, valid, async (worker, mutant) => {
    const key = keyOf(mutant.tests);
    const before = unchanged.get(key);
    report(await testMutant(worker, mutant, before, options.minTimeLimit ?? MIN_TIME_LIMIT));
    // The output of tests that fail without a change is reported once.
    if (before !== undefined) unchanged.set(key, { ...before, output: "as above" });
  });
  return results;
}

/** Lets workers take items from a list until it is empty. */
async function share<T>(
  workers: readonly TreeCopy[],
  items: readonly T[],
  work: (worker: TreeCopy, item: T) => Promise<void>,
): Promise<void> {
  const waiting = [...items];
  await Promise.all(workers.map(async (worker) => {
    for (let item = waiting.shift(); item !== undefined; item = waiting.shift()) {
      await work(worker, item);
    }
  }));
}

/** Reports the mutants that cannot be made or have type errors, and returns the others. */
async function withoutTypeErrors(
  workers: readonly TreeCopy[],
  mutants: readonly Mutant[],
  report: (result: Result) => void,
): Promise<Mutant[]> {
  const valid: Mutant[] = [];
  await share(workers, inRounds(mutants), async (worker, round) => {
    const made = await Promise.all(round.map(async (mutant) => ({
      mutant,
      mutation: await mutationIn(worker, mutant),
    })));
    const refuse = (mutant: Mutant, detail: string) =>
      report({ mutant, outcome: "error", line: undefined, detail, time: 0 });
    for (const { mutant, mutation } of made) {
      if ("problem" in mutation) refuse(mutant, mutation.problem);
    }
    const possible = made.flatMap(({ mutant, mutation }) => "problem" in mutation ? [] : [mutant]);
    // A round has one change of each file, so most of them need one check for all.
    if (await typeProblem(worker, possible) === undefined) return void valid.push(...possible);
    for (const mutant of possible) {
      const problem = await typeProblem(worker, [mutant]);
      if (problem === undefined) valid.push(mutant);
      else refuse(mutant, `does not pass the type check:\n${problem}`);
    }
  });
  return mutants.filter((mutant) => valid.includes(mutant));
}

/** Distributes mutants to rounds with at most one of each file. */
function inRounds(mutants: readonly Mutant[]): Mutant[][] {
  const rounds: Mutant[][] = [];
  for (const ofFile of Map.groupBy(mutants, ({ file }) => file).values()) {
    for (const [i, mutant] of ofFile.entries()) (rounds[i] ??= []).push(mutant);
  }
  return rounds;
}

async function mutationIn(worker: TreeCopy, mutant: Mutant): Promise<Mutation> {
  try {
    return mutate(await worker.read(mutant.file), mutant);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return { problem: "there is no such file" };
    throw error;
  }
}

async function typeProblem(
  worker: TreeCopy,
  mutants: readonly Mutant[],
): Promise<string | undefined> {
  if (mutants.length === 0) return undefined;
  return await withChanges(worker, mutants, () => worker.typeProblem(mutants.map((m) => m.file)));
}

/** Does something while the sources are changed. */
async function withChanges<T>(
  worker: TreeCopy,
  mutants: readonly Mutant[],
  work: () => Promise<T>,
): Promise<T> {
  const sources = await Promise.all(mutants.map(({ file }) => worker.read(file)));
  try {
    for (const [i, mutant] of mutants.entries()) {
      const mutation = mutate(sources[i] ?? "", mutant);
      if ("text" in mutation) await worker.write(mutant.file, mutation.text);
    }
    return await work();
  } finally {
    for (const [i, { file }] of mutants.entries()) await worker.write(file, sources[i] ?? "");
  }
}

/** Runs each set of tests once without a change. */
async function runUnchanged(
  workers: readonly TreeCopy[],
  mutants: readonly Mutant[],
): Promise<Map<string, TestRun>> {
  const runs = new Map<string, TestRun>();
  const sets = new Map(mutants.map(({ tests }) => [keyOf(tests), tests]));
  await share(workers, [...sets], async (worker, [key, tests]) => {
    runs.set(key, await worker.test(tests, UNCHANGED_TIME_LIMIT));
  });
  return runs;
}

async function testMutant(
  worker: TreeCopy,
  mutant: Mutant,
  before: TestRun | undefined,
  minTimeLimit: number,
): Promise<Result> {
  const mutation = await mutationIn(worker, mutant);
  const line = "line" in mutation ? mutation.line : undefined;
  if (before?.outcome !== "passed") {
    const detail = `its tests fail without the change:\n${before?.output ?? ""}`;
    return { mutant, outcome: "error", line, detail, time: before?.time ?? 0 };
  }
  const limit = Math.max(minTimeLimit, TIME_FACTOR * before.time);
  const run = await withChanges(worker, [mutant], () => worker.test(mutant.tests, limit));
  return { mutant, ...verdictOf(mutant, run), line, time: run.time };
}

function verdictOf(
  { why }: Mutant,
  { outcome, failedTest = "an error outside of the tests", output }: TestRun,
): Pick<Result, "outcome" | "detail"> {
  switch (outcome) {
    case "failed":
      return { outcome: "killed", detail: failedTest };
    case "timed out":
      return { outcome: "killed", detail: "the tests hung" };
    case "broken":
      return { outcome: "error", detail: `its tests do not load:\n${output}` };
    case "passed":
      return why === undefined
        ? { outcome: "survived", detail: "no test failed" }
        : { outcome: "explained", detail: why };
  }
}

function keyOf(tests: readonly string[]): string {
  return tests.join(" ");
}

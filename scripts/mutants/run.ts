import { type Mutant, mutate, type Mutation } from "./table.ts";
import { type TestRun, TreeCopy } from "./tree_copy.ts";

/** What the tests of a mutant may take, in milliseconds: a multiple of their time without the change, and some more. */
const TIME_FACTOR = 3;
const MIN_TIME_LIMIT = 20_000;

/** The longest run of tests without a change, in milliseconds. */
const UNCHANGED_TIME_LIMIT = 600_000;

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
  /** Ends the run; the results so far are returned. */
  signal?: AbortSignal;
  onResult?: (result: Result) => void;
}

/** Makes each change in a copy of the project and runs its tests. */
export async function testMutants(
  mutants: readonly Mutant[],
  options: RunOptions,
): Promise<Result[]> {
  const { jobs, signal, minTimeLimit = MIN_TIME_LIMIT, onResult = () => {} } = options;
  await using copies = new AsyncDisposableStack();
  const copy = async (): Promise<TreeCopy> => copies.use(await TreeCopy.make(options, options));
  const workers = await Promise.all(Array.from({ length: jobs }, copy));
  const results: Result[] = [];
  // All changes with the same tests are of one worker, which runs them once without a change.
  const sets = [...Map.groupBy(mutants, ({ tests }) => tests.join(" ")).values()];
  await Promise.all(workers.map(async (worker) => {
    for (let set = sets.shift(); set !== undefined; set = sets.shift()) {
      const unchanged = await worker.test(set[0]?.tests ?? [], UNCHANGED_TIME_LIMIT);
      for (const mutant of set) {
        if (signal?.aborted) return;
        const result = await testMutant(worker, mutant, unchanged, minTimeLimit);
        if (signal?.aborted) return;
        results.push(result);
        onResult(result);
        // The output of tests that fail without a change is reported once.
        unchanged.output = "as above";
      }
    }
  }));
  return results;
}

async function testMutant(
  worker: TreeCopy,
  mutant: Mutant,
  unchanged: TestRun,
  minTimeLimit: number,
): Promise<Result> {
  const source = await worker.read(mutant.file);
  const mutation: Mutation = source === undefined
    ? { problem: "there is no such file" }
    : mutate(source, mutant);
  if (source === undefined || "problem" in mutation) {
    const detail = "problem" in mutation ? mutation.problem : "";
    return { mutant, outcome: "error", line: undefined, detail, time: 0 };
  }
  const { line, text } = mutation;
  if (unchanged.outcome !== "passed") {
    const detail = `its tests fail without the change:\n${unchanged.output}`;
    return { mutant, outcome: "error", line, detail, time: unchanged.time };
  }
  await worker.write(mutant.file, text);
  const limit = Math.max(minTimeLimit, TIME_FACTOR * unchanged.time);
  const run = await worker.test(mutant.tests, limit);
  await worker.write(mutant.file, source);
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

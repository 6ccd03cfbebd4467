import { statfs } from "node:fs/promises";
import { print } from "../package/command_line.ts";
import { filesBelow, ROOT } from "../package/parts.ts";
import { isOfOtherTask, isSlow, LONG_JOBS, planProcesses } from "./schedule.ts";
import { type RunOptions, runTestFiles, type TestFiles, type TestResult } from "./test_file.ts";

/** A file system in memory, and what it needs free to hold the stores of the tests, in bytes. */
const MEMORY_DISK = "/dev/shm";
const MEMORY_DISK_FREE = 4e9;

/** How many of the slowest processes and tests the summary names. */
const SLOWEST = 10;

export interface TestRun {
  files: readonly string[];
  /** How many processes run at the same time; by default two more than the machine has cores. */
  jobs?: number;
  /** Seconds after which a process is ended. */
  timeLimit?: number;
  /** Whether temporary folders are on a disk, also where a file system in memory has room. */
  isOnDisk?: boolean;
  /** More arguments of `deno test`. */
  args?: readonly string[];
  env?: Record<string, string>;
}

/** Runs test files and prints a line for each process, and a summary. @returns the exit status. */
export async function runTests(run: TestRun): Promise<number> {
  const place = run.isOnDisk ? {} : await memoryDisk();
  const folder = await Deno.makeTempDir({ ...place, prefix: "kvdrive-tests-" });
  const ended = new AbortController();
  const status = endOnSignal(ended);
  const started = performance.now();
  try {
    const results = await runAll(run, folder, ended.signal);
    return status() ?? summarize(results, (performance.now() - started) / 1000);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

/**
 * The test files in some files and folders; without them, all of the project but those of other tasks.
 */
export async function testFiles(places: readonly string[]): Promise<string[]> {
  const files: string[] = [];
  for (const place of places.length > 0 ? places : ["tests", "scripts", "src"]) {
    const path = place.replace(/^\.\//, "").replace(/\/$/, "");
    if ((await Deno.stat(`${ROOT}${path}`)).isFile) files.push(path);
    else files.push(...(await filesBelow(ROOT, path)).filter(isTest));
  }
  if (places.length > 0) return files;
  return files.filter((file) => !isOfOtherTask(file) && !isSlow(file));
}

/** The test files that take long, for `deno task test:slow`: those in some places, or all. */
export async function slowTests(places: readonly string[]): Promise<string[]> {
  const files = await testFiles(places.length > 0 ? places : ["tests", "scripts", "src"]);
  return files.filter((file) => !isOfOtherTask(file) && isSlow(file));
}

/** The black-box tests that need no other program. */
export async function blackBoxTests(): Promise<string[]> {
  const files = await testFiles(["tests"]);
  return files.filter((file) => !isOfOtherTask(file) && !file.startsWith("tests/support/"));
}

function isTest(path: string): boolean {
  return /_test\.(ts|js)$/.test(path);
}

/** Where temporary folders are made: in memory where there is room, because each server writes and syncs 16 MiB at its start. */
async function memoryDisk(): Promise<{ dir?: string }> {
  try {
    const { bavail, bsize } = await statfs(MEMORY_DISK);
    return bavail * bsize >= MEMORY_DISK_FREE ? { dir: MEMORY_DISK } : {};
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return {};
    throw error;
  }
}

async function runAll(
  { files, jobs = navigator.hardwareConcurrency + 2, timeLimit = 900, args = [], env = {} }:
    TestRun,
  folder: string,
  signal: AbortSignal,
): Promise<TestResult[]> {
  const disk = Deno.env.get("TMPDIR") ?? "/tmp";
  const own = { TMPDIR: folder, KVDRIVE_TEST_DISK: disk };
  const options: RunOptions = { args, env: { ...own, ...env }, folder, timeLimit, signal };
  const results: TestResult[] = [];
  const work = async (queue: TestFiles[]): Promise<void> => {
    for (let own = queue.shift(); own !== undefined; own = queue.shift()) {
      if (signal.aborted) return;
      const result = await runTestFiles(own, options);
      results.push(result);
      if (!signal.aborted) print(lineOf(result));
    }
  };
  const { long, others, alone } = planProcesses(files);
  const lanes = (queue: TestFiles[], count: number) =>
    Array.from({ length: count }, () => work(queue));
  await Promise.all([...lanes(others, jobs), ...lanes(long, jobs > 1 ? LONG_JOBS : 0)]);
  // With one job, nothing runs beside anything.
  await work([...long, ...alone]);
  return results;
}

function lineOf(result: TestResult): string {
  const { passed, failed, ignored, isOk, output } = result;
  const counts = [
    `${passed} passed`,
    ...failed > 0 ? [`${failed} failed`] : [],
    ...ignored > 0 ? [`${ignored} ignored`] : [],
  ].join(", ");
  const line = `${isOk ? "ok    " : "FAILED"} ${timeOf(result)}: ${counts}\n`;
  return isOk ? line : `${line}\n${output}\n`;
}

function timeOf({ files, seconds }: TestResult): string {
  return `${inColumn(seconds)} s  ${nameOf(files)}`;
}

function inColumn(seconds: number): string {
  return seconds.toFixed(1).padStart(6);
}

function nameOf([first, ...others]: TestFiles): string {
  return others.length === 0 ? first : `${first} and ${others.length} more`;
}

/** Prints the totals. @returns the exit status. */
function summarize(results: readonly TestResult[], time: number): number {
  const sum = (count: (result: TestResult) => number) =>
    results.reduce((total, result) => total + count(result), 0);
  const failed = results.filter(({ isOk }) => !isOk);
  const seconds = Math.round(time);
  print(
    `\n${sum(({ files }) => files.length)} files, ${
      sum(({ passed }) => passed)
    } tests and steps passed, ` +
      `${sum((result) => result.failed)} failed, ${sum(({ ignored }) => ignored)} ignored, ` +
      `in ${Math.floor(seconds / 60)} min ${seconds % 60} s\n`,
  );
  if (results.length > SLOWEST) {
    const slowest = results.toSorted((a, b) => b.seconds - a.seconds).slice(0, SLOWEST);
    print(`The slowest:\n${slowest.map((result) => `${timeOf(result)}\n`).join("")}`);
    const tests = results.flatMap(({ times }) => times).toSorted((a, b) => b.seconds - a.seconds);
    const lines = tests.slice(0, SLOWEST).map(({ name, seconds }) =>
      `${inColumn(seconds)} s  ${name}\n`
    );
    print(`The slowest tests:\n${lines.join("")}`);
  }
  if (failed.length === 0) return 0;
  print(`Files that failed:\n${failed.map(({ files }) => `  ${files.join(" ")}\n`).join("")}`);
  return 1;
}

/** Ends the running tests on Ctrl-C. @returns a function that returns the exit status of a signal that came. */
function endOnSignal(ended: AbortController): () => number | undefined {
  const statuses = { SIGINT: 130, SIGTERM: 143 } as const;
  let status: number | undefined;
  for (const [signal, own] of Object.entries(statuses)) {
    // Windows has no SIGTERM.
    if (Deno.build.os === "windows" && signal === "SIGTERM") continue;
    Deno.addSignalListener(signal as keyof typeof statuses, () => {
      status = own;
      ended.abort();
    });
  }
  return () => status;
}

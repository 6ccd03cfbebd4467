import { join } from "@std/path/join";
import { pathToFileURL } from "node:url";
import { ROOT } from "../package/parts.ts";

/** Test files that run in one process, relative to the project. */
export type TestFiles = readonly [string, ...string[]];

/** How the tests of one process ended. */
export interface TestResult {
  files: TestFiles;
  /** Tests and steps that passed, failed or were left out. */
  passed: number;
  failed: number;
  ignored: number;
  /** Whether all passed: the files load, they have tests, and none fails. */
  isOk: boolean;
  seconds: number;
  /** How long each test took, without its steps. */
  times: readonly TestTime[];
  /** Everything that the run printed. */
  output: string;
}

/** How long a test took, in seconds. */
export interface TestTime {
  name: string;
  seconds: number;
}

/** How a process runs its tests. */
export interface RunOptions {
  /** More arguments of `deno test`. */
  args: readonly string[];
  env: Record<string, string>;
  /** A folder for the runner's own files. */
  folder: string;
  /** How long one process may take, in seconds. */
  timeLimit: number;
  signal: AbortSignal;
}

/** Selects the configuration of a test file. The tests in `tests/` have packages that the program does not need. */
export function configOf(path: string): string[] {
  return path.startsWith("tests/") ? ["--config", "tests/deno.json"] : [];
}

/** Runs the tests of some files, which have the same configuration, in a process of their own. */
export async function runTestFiles(
  files: TestFiles,
  options: RunOptions,
): Promise<TestResult> {
  const { args, env, folder, timeLimit, signal } = options;
  const name = join(folder, files[0].replaceAll(/[^\w.]/g, "-"));
  const report = `${name}.xml`;
  const started = performance.now();
  const process = new Deno.Command(Deno.execPath(), {
    args: [
      "test",
      ...configOf(files[0]),
      "--quiet",
      "--no-check",
      "--no-prompt",
      // Fewer collections: the tests are a tenth faster.
      "--v8-flags=--min-semi-space-size=16,--max-semi-space-size=64",
      "-A",
      `--junit-path=${report}`,
      ...args,
      files.length === 1 ? files[0] : await writeEntry(files, `${name}.all_test.ts`),
    ],
    cwd: ROOT,
    env: { NO_COLOR: "1", ...env },
    stdin: "null",
    stdout: "piped",
    stderr: "piped",
    detached: hasGroups,
  }).spawn();
  const ended = AbortSignal.any([signal, AbortSignal.timeout(timeLimit * 1000)]);
  const end = () => killAll(process);
  ended.addEventListener("abort", end);
  const { success, stdout, stderr } = await process.output();
  ended.removeEventListener("abort", end);
  killAll(process);
  const seconds = (performance.now() - started) / 1000;
  const cases = await readIfThere(report);
  const counts = countCases(cases);
  const isFiltered = args.some((arg) => arg.startsWith("--filter"));
  const isEmpty = counts.passed + counts.failed + counts.ignored === 0 && !isFiltered;
  const decoder = new TextDecoder();
  let output = decoder.decode(stdout) + decoder.decode(stderr);
  if (success && isEmpty) output += `${files.join(", ")}: no tests\n`;
  if (seconds >= timeLimit) output += `Ended after ${timeLimit} seconds\n`;
  return { files, ...counts, isOk: success && !isEmpty, seconds, times: timesOf(cases), output };
}

/** Windows has no groups of processes. */
const hasGroups = Deno.build.os !== "windows";

/** Kills a process, and with it the servers that its tests have started and not ended. */
function killAll({ pid }: Deno.ChildProcess): void {
  try {
    Deno.kill(hasGroups ? -pid : pid, "SIGKILL");
  } catch (error) {
    // They had ended by themselves.
    if (!(error instanceof Deno.errors.NotFound || error instanceof TypeError)) throw error;
  }
}

/**
 * Writes a module that imports all tests. They share what they import, compiled once: as arguments of `deno test`, each file
 * would compile it again, which takes longer than most tests.
 */
async function writeEntry(files: readonly string[], path: string): Promise<string> {
  const imports = files.map((file) =>
    `import ${JSON.stringify(pathToFileURL(join(ROOT, file)).href)};\n`
  );
  await Deno.writeTextFile(path, imports.join(""));
  return path;
}

/** Counts the test cases of a JUnit report, which has one for each test and for each of its steps. */
export function countCases(
  report: string,
): { passed: number; failed: number; ignored: number } {
  const counts = { passed: 0, failed: 0, ignored: 0 };
  for (
    const [, inside = ""] of report.matchAll(/<testcase\b[^>]*?(?:\/>|>([\s\S]*?)<\/testcase>)/g)
  ) {
    if (/<(failure|error)\b/.test(inside)) counts.failed++;
    else if (/<skipped\b/.test(inside)) counts.ignored++;
    else counts.passed++;
  }
  return counts;
}

/** Reads the times of the tests from a JUnit report. The name of a step has that of its test before it. */
export function timesOf(report: string): TestTime[] {
  return [...report.matchAll(/<testcase name="([^"]*)"[^>]* time="([\d.]+)"/g)]
    .filter(([, name = ""]) => !name.includes(" &gt; "))
    .map(([, name = "", time]) => ({ name, seconds: Number(time) }));
}

async function readIfThere(path: string): Promise<string> {
  try {
    return await Deno.readTextFile(path);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return "";
    throw error;
  }
}

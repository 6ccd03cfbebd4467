import { join } from "@std/path/join";
import { ROOT } from "../package/parts.ts";

/** How the tests of one file ended. */
export interface FileResult {
  path: string;
  /** Tests and steps that passed, failed or were left out. */
  passed: number;
  failed: number;
  ignored: number;
  /** Whether the file counts as passed: it loads, it has tests, and none fails. */
  isOk: boolean;
  seconds: number;
  /** Everything that the run printed. */
  output: string;
}

/** How the test files are run. */
export interface RunOptions {
  /** More arguments of `deno test`. */
  args: readonly string[];
  env: Record<string, string>;
  /** A folder for the runner's own files. */
  folder: string;
  /** How long one file may take, in seconds. */
  timeLimit: number;
  signal: AbortSignal;
}

/** Selects the configuration of a test file. The tests in `tests/` have packages that the program does not need. */
export function configOf(path: string): string[] {
  return path.startsWith("tests/") ? ["--config", "tests/deno.json"] : [];
}

/** Runs the tests of one file in a process of their own. */
export async function runTestFile(path: string, options: RunOptions): Promise<FileResult> {
  const { args, env, folder, timeLimit, signal } = options;
  const report = join(folder, `${path.replaceAll(/[^\w.]/g, "-")}.xml`);
  const started = performance.now();
  const process = new Deno.Command(Deno.execPath(), {
    args: [
      "test",
      ...configOf(path),
      "--quiet",
      "--no-check",
      "--no-prompt",
      // Fewer collections: the tests are a tenth faster.
      "--v8-flags=--min-semi-space-size=16,--max-semi-space-size=64",
      "-A",
      `--junit-path=${report}`,
      ...args,
      path,
    ],
    cwd: ROOT,
    env: { NO_COLOR: "1", ...env },
    stdin: "null",
    stdout: "piped",
    stderr: "piped",
    signal: AbortSignal.any([signal, AbortSignal.timeout(timeLimit * 1000)]),
  }).spawn();
  const { success, stdout, stderr } = await process.output();
  const seconds = (performance.now() - started) / 1000;
  const counts = countCases(await readIfThere(report));
  const isFiltered = args.some((arg) => arg.startsWith("--filter"));
  const isEmpty = counts.passed + counts.failed + counts.ignored === 0 && !isFiltered;
  const decoder = new TextDecoder();
  let output = decoder.decode(stdout) + decoder.decode(stderr);
  if (success && isEmpty) output += `${path} has no tests\n`;
  if (seconds >= timeLimit) output += `${path} was ended after ${timeLimit} seconds\n`;
  return { path, ...counts, isOk: success && !isEmpty, seconds, output };
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

async function readIfThere(path: string): Promise<string> {
  try {
    return await Deno.readTextFile(path);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return "";
    throw error;
  }
}

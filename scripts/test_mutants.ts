/**
 * Changes the source in many places, one at a time, and reports the changes that no test notices:
 * `deno task test:mutants --help`.
 *
 * @module
 */
import { parseArgs } from "node:util";
import { type Result, testMutants } from "./mutants/run.ts";
import { type Mutant, readMutants } from "./mutants/table.ts";
import { print } from "./package/command_line.ts";
import { ROOT } from "./package/parts.ts";

/** The least number of changes. */
const MIN_MUTANTS = 60;

const HELP = `Usage: deno task test:mutants [OPTIONS] [TEXT ...]

Makes each change of scripts/mutants/table.diff in a copy of the project, runs the tests that must notice it, and prints one line.
With a text: only changes whose file, text or tests contain it.

  --jobs N    how many changes are tested at the same time (2)
  -h, --help  print this

Exit status 1: a change survived without an explanation, the table has an error, or it has fewer than ${MIN_MUTANTS} changes.
`;

/** The exit status after Ctrl-C. */
const INTERRUPTED = 130;

/** What the tests need. */
const PARTS = ["deno.json", "deno.lock", "docs", "main.ts", "scripts", "src", "tests"];

/** A file system in memory, on which tests that write stores are faster. */
const MEMORY_DISK = "/dev/shm";

if (import.meta.main) Deno.exit(await main(Deno.args));

async function main(args: string[]): Promise<number> {
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: {
      jobs: { type: "string", default: "2" },
      help: { type: "boolean", short: "h", default: false },
    },
  });
  if (values.help) {
    print(HELP);
    return 0;
  }
  const mutants = (await readMutants()).filter((mutant) =>
    positionals.every((text) => mentions(mutant, text))
  );
  // The processes and folders of the run are removed before it ends.
  const stop = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM"] as const) {
    Deno.addSignalListener(signal, () => stop.abort());
  }
  const started = performance.now();
  const results = await testMutants(mutants, {
    root: ROOT,
    parts: PARTS,
    jobs: Math.max(1, Number(values.jobs)),
    dir: await memoryDisk(),
    onResult: (result) => print(lineOf(result)),
    signal: stop.signal,
  });
  if (stop.signal.aborted) return INTERRUPTED;
  return summarize(results, performance.now() - started, positionals.length > 0);
}

function mentions({ file, find, tests }: Mutant, text: string): boolean {
  return [file, find, ...tests].some((each) => each.includes(text));
}

async function memoryDisk(): Promise<string | undefined> {
  try {
    return (await Deno.stat(MEMORY_DISK)).isDirectory ? MEMORY_DISK : undefined;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return undefined;
    throw error;
  }
}

function lineOf({ mutant, outcome, line, detail, time }: Result): string {
  const place = line === undefined ? mutant.file : `${mutant.file}:${line}`;
  const seconds = `${(time / 1000).toFixed(1).padStart(5)} s`;
  const head = `${outcome.padEnd(9)} ${seconds}  ${place}: ${detail.trim()}\n`;
  if (outcome === "killed") return head;
  return `${head}  ${JSON.stringify(mutant.find)}\n  -> ${JSON.stringify(mutant.replace)}\n`;
}

/** Prints the totals. Returns the exit status. */
function summarize(results: readonly Result[], time: number, isSelection: boolean): number {
  const count = (outcome: Result["outcome"]) =>
    results.filter((result) => result.outcome === outcome).length;
  const seconds = Math.round(time / 1000);
  print(
    `\n${results.length} changes in ${Math.floor(seconds / 60)} min ${seconds % 60} s: ` +
      `${count("killed")} killed, ${count("survived")} survived, ` +
      `${count("explained")} survived and are explained, ${count("error")} errors\n`,
  );
  const isEnough = isSelection || results.length >= MIN_MUTANTS;
  if (!isEnough) print(`The table needs at least ${MIN_MUTANTS} changes\n`);
  return isEnough && count("survived") + count("error") === 0 ? 0 : 1;
}

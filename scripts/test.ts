/**
 * Runs tests and prints one line a process: `deno task test --help`.
 *
 * @module
 */
import { parseArgs } from "node:util";
import { BUNDLE, bundleDashboard } from "./dashboard/bundle.ts";
import { print } from "./package/command_line.ts";
import { runTests, slowTests, testFiles } from "./test/runner.ts";

const HELP = `Usage: deno task test [OPTIONS] [FILE_OR_FOLDER ...] [-- OPTIONS OF deno test]

Runs test files, several in a process, and prints one line for each process; one that fails is followed by its whole output.
Without a file or folder: all tests that need nothing but Deno and take seconds.

  --slow            what the task "test" leaves out: *_slow_test.ts, tests/cli, tests/server, tests/store, and the tests of
                    src/ on a store that loses answers to commits
  --jobs N          how many processes run at the same time (two more than the machine has cores)
  --on-disk         make temporary folders on a disk, also where /dev/shm has room
  --time-limit S    seconds after which a process is ended (900)
  --filter TEXT     only tests whose name has this text
  -h, --help        print this
`;

/** What the quick tests leave out or do less often. */
const QUICK = {
  // Tests of the store run on a file only.
  KVDRIVE_TEST_QUICK: "1",
  // Servers collect garbage less often, which saves a fifth of the time. Slow tests measure memory.
  DENO_V8_FLAGS: "--min-semi-space-size=16,--max-semi-space-size=64",
};

/** The tests of the store that the quick tests leave out. */
const LOST_ANSWERS = "--filter=(lost answers)";

interface Options {
  places: string[];
  isSlow: boolean;
  isOnDisk: boolean;
  jobs: number;
  timeLimit: number;
  args: string[];
}

if (import.meta.main) Deno.exit(await main(Deno.args));

async function main(args: string[]): Promise<number> {
  const options = readOptions(args);
  if (typeof options === "number") return options;
  const files = options.isSlow ? await slowTests(options.places) : await testFiles(options.places);
  if (files.length === 0) {
    print(`No test files in ${options.places.join(", ")}\n`);
    return 2;
  }
  await bundleDashboard(BUNDLE);
  const isQuick = !options.isSlow && options.places.length === 0;
  const status = await runTests({ ...options, files, env: isQuick ? QUICK : {} });
  const isAll = options.isSlow && options.places.length === 0;
  return isAll ? await runLostAnswers(options) || status : status;
}

async function runLostAnswers(options: Options): Promise<number> {
  const files = (await testFiles([])).filter((file) => /^src\/(store|api)\//.test(file));
  return await runTests({ ...options, files, args: [...options.args, LOST_ANSWERS] });
}

function readOptions(args: string[]): Options | number {
  const end = args.indexOf("--");
  const own = end === -1 ? args : args.slice(0, end);
  try {
    const { values, positionals } = parseArgs({
      args: own,
      allowPositionals: true,
      options: {
        jobs: { type: "string", default: String(navigator.hardwareConcurrency + 2) },
        "time-limit": { type: "string", default: "900" },
        filter: { type: "string" },
        slow: { type: "boolean", default: false },
        "on-disk": { type: "boolean", default: false },
        help: { type: "boolean", short: "h", default: false },
      },
    });
    if (values.help) {
      print(HELP);
      return 0;
    }
    return {
      places: positionals,
      isSlow: values.slow,
      isOnDisk: values["on-disk"],
      jobs: positive(values.jobs, "--jobs"),
      timeLimit: positive(values["time-limit"], "--time-limit"),
      args: [
        ...values.filter === undefined ? [] : [`--filter=${values.filter}`],
        ...end === -1 ? [] : args.slice(end + 1),
      ],
    };
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    print(`${error.message}\n\n${HELP}`);
    return 2;
  }
}

function positive(text: string, option: string): number {
  const value = Number(text);
  if (!Number.isInteger(value) || value < 1) throw new TypeError(`${option} needs a whole number`);
  return value;
}

import { parseArgs } from "node:util";

/** How a run of the benchmark goes. */
export interface BenchOptions {
  /** A file to write the figures to. */
  json: string | undefined;
  /** Whether a row that does not hold makes the run fail. */
  check: boolean;
  /** What the names of the wanted rows contain. */
  only: string | undefined;
  /** A git state whose server is measured beside this one. */
  against: string | undefined;
  full: boolean;
  /** The load generator to use, in place of the best that is installed. */
  load: "wrk" | "deno" | undefined;
  help: boolean;
}

/** What `deno task bench --help` prints. */
export const BENCH_HELP = `Usage: deno task bench [OPTIONS]

  --only NAME       run the rows whose name contains NAME
  --check           exit with 1 if a row does not hold
  --json FILE       write the figures to FILE as well
  --against GITREF  measure the server of that git state beside this one
  --full            larger: drives of 10,000,000 files, an upload of 1 GiB (takes 10 minutes and 6 GB of disk)
  --load TOOL       where the load comes from: wrk (where it is installed), or deno
`;

const OPTIONS = {
  json: { type: "string" },
  only: { type: "string" },
  against: { type: "string" },
  load: { type: "string" },
  check: { type: "boolean", default: false },
  full: { type: "boolean", default: false },
  help: { type: "boolean", short: "h", default: false },
} as const;

/** Reads the command line; a sentence on what is wrong with it where it cannot be followed. */
export function parseBenchOptions(args: string[]): BenchOptions | string {
  const values = parsed(args);
  if (typeof values === "string") return values;
  const { json, only, against, load } = values;
  if (load !== undefined && load !== "wrk" && load !== "deno") {
    return `Bad value "${load}" of --load: it must be wrk or deno`;
  }
  return { ...values, json, only, against, load };
}

function parsed(args: string[]) {
  try {
    return parseArgs({ args, options: OPTIONS }).values;
  } catch (error) {
    if (error instanceof TypeError) return error.message;
    throw error;
  }
}

/** How many files a large drive has. */
export function filesOf({ full }: BenchOptions): number {
  return full ? 10_000_000 : 20_000;
}

/**
 * Measures the server, each figure beside one that bounds it in the same run: `deno task bench --help`.
 *
 * @module
 */

import { type Experiment, type Result, runExperiment, Stock } from "./bench/experiment.ts";
import { runLoadWithKey } from "./bench/load.ts";
import { header, machineLine, rowLine } from "./bench/report.ts";
import {
  downloadByLink,
  downloadLarge,
  downloadManyLarge,
  downloadNames,
  downloadSmall,
  gate,
} from "./bench/rows/downloads.ts";
import { deliveries, feed, followers } from "./bench/rows/followers.ts";
import { lists, start } from "./bench/rows/lists.ts";
import {
  besideUploads,
  overwriteSmall,
  together,
  uploadLarge,
  uploadSmall,
  uploadWith,
} from "./bench/rows/uploads.ts";
import { downloadOverWebdav, listOverWebdav, uploadOverWebdav } from "./bench/rows/webdav.ts";
import { findProgram, Scope } from "./bench/scope.ts";
import { checkoutsOf } from "./bench/server.ts";
import { print, readOptions } from "./package/command_line.ts";

/** All that is measured, in the order of the report. */
const EXPERIMENTS: readonly Experiment[] = [
  start,
  downloadSmall,
  downloadByLink,
  downloadNames,
  ...downloadLarge,
  downloadManyLarge,
  uploadSmall,
  overwriteSmall,
  ...uploadWith,
  uploadLarge,
  together,
  besideUploads,
  lists,
  feed,
  followers,
  deliveries,
  downloadOverWebdav,
  uploadOverWebdav,
  listOverWebdav,
  gate,
];

const HELP = `Usage: deno task bench [OPTIONS]

Needs wrk, which sends the load. Takes about 7 minutes.

  --only NAME       run the rows whose name contains NAME
  --quick           one round with a small drive: shows that the rows run, not how fast the server is
  --check           exit with 1 if a row does not hold
  --json FILE       write the figures to FILE as well
  --against GITREF  measure the server of that git state beside this one
  -h, --help        print this
`;

const OPTIONS = {
  only: { type: "string", default: "" },
  quick: { type: "boolean", default: false },
  check: { type: "boolean", default: false },
  json: { type: "string" },
  against: { type: "string" },
  help: { type: "boolean", short: "h", default: false },
} as const;

/** How often each figure is measured, and how many files the large drive has. */
const FULL = { rounds: 5, files: 100_000 };
const QUICK = { rounds: 1, files: 2000 };

if (import.meta.main) Deno.exit(await main(Deno.args));

async function main(args: string[]): Promise<number> {
  const options = readOptions(args, OPTIONS, HELP);
  if (typeof options === "number") return options;
  const isWanted = ({ name }: { name: string }) => name.includes(options.only);
  const wanted = EXPERIMENTS.filter(({ rows }) => rows.some(isWanted));
  if (wanted.length === 0) {
    print(`No row has a name that contains ${JSON.stringify(options.only)}\n`);
    return 2;
  }
  if (await findProgram("wrk") === undefined) {
    print("wrk is not installed; it sends the load\n");
    return 2;
  }
  const machine = await machineLine();
  print(`${machine}; load by wrk\n\n${header(options.against)}\n`);
  const results = (await measure(wanted, options)).filter(({ row }) => isWanted(row));
  if (options.json !== undefined) {
    await Deno.writeTextFile(options.json, `${JSON.stringify({ machine, results }, null, 2)}\n`);
  }
  const broken = results.filter(({ holds }) => !holds).map(({ row }) => `  ${row.name}\n`);
  print(
    broken.length === 0 ? "\nAll rows hold.\n" : `\nRows that do not hold:\n${broken.join("")}`,
  );
  return options.check && broken.length > 0 ? 1 : 0;
}

/** Measures and prints the rows of experiments. */
async function measure(
  experiments: readonly Experiment[],
  { quick, against }: { quick: boolean; against?: string },
): Promise<Result[]> {
  await using scope = await Scope.open();
  const { rounds, files } = quick ? QUICK : FULL;
  const checkouts = await checkoutsOf(scope, against);
  const stock = new Stock(scope, files);
  const results: Result[] = [];
  for (const experiment of experiments) {
    await using own = await scope.nested();
    const stage = { scope: own, load: runLoadWithKey, stock };
    const taken = await runExperiment(experiment, stage, checkouts, rounds);
    for (const result of taken) print(`${rowLine(result)}\n`);
    results.push(...taken);
  }
  return results;
}

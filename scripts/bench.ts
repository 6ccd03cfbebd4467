/**
 * Measures the server against the limits of the layers below it, taken in the same run: `deno task bench --help`.
 *
 * @module
 */

import { type Experiment, type Result, runExperiment, type Stage } from "./bench/experiment.ts";
import { findLoadGenerator } from "./bench/load.ts";
import { BENCH_HELP, type BenchOptions, filesOf, parseBenchOptions } from "./bench/options.ts";
import { brokenRows, header, machineLine, rowLine, toJson } from "./bench/report.ts";
import { archive } from "./bench/rows/archive.ts";
import { besideUploads } from "./bench/rows/beside_uploads.ts";
import { completeUpload } from "./bench/rows/complete_upload.ts";
import { copyLarge, moveMany } from "./bench/rows/copies.ts";
import {
  downloadByLink,
  downloadLarge,
  downloadManyLarge,
  downloadNames,
  downloadParts,
  downloadSmall,
} from "./bench/rows/downloads.ts";
import { deliveries, followers } from "./bench/rows/followers.ts";
import { gate } from "./bench/rows/gate.ts";
import { lookups, sizeOnDisk } from "./bench/rows/large_drive.ts";
import { listDetails, listDirectories, listLarge } from "./bench/rows/lists.ts";
import { memory, start } from "./bench/rows/process.ts";
import { besideSearch, search } from "./bench/rows/search.ts";
import { downloadsOverTls } from "./bench/rows/tls.ts";
import { together } from "./bench/rows/together.ts";
import {
  overwriteSmall,
  uploadLarge,
  uploadParts,
  uploadSmall,
  uploadWithFeed,
  uploadWithQuota,
} from "./bench/rows/uploads.ts";
import { downloadOverWebdav, listOverWebdav, uploadOverWebdav } from "./bench/rows/webdav.ts";
import { endOnSignal, Scope } from "./bench/scope.ts";
import { checkoutsOf } from "./bench/server.ts";
import { Stock } from "./bench/stock.ts";

/** All that is measured, in the order of the report. */
const EXPERIMENTS: readonly Experiment[] = [
  downloadSmall,
  downloadByLink,
  downloadNames,
  uploadSmall,
  overwriteSmall,
  uploadWithQuota,
  uploadWithFeed,
  followers,
  deliveries,
  ...downloadLarge,
  downloadManyLarge,
  downloadParts,
  archive,
  ...downloadsOverTls,
  uploadLarge,
  uploadParts,
  besideUploads,
  together,
  listLarge,
  listDetails,
  listDirectories,
  search,
  besideSearch,
  lookups,
  sizeOnDisk,
  completeUpload,
  copyLarge,
  moveMany,
  downloadOverWebdav,
  uploadOverWebdav,
  listOverWebdav,
  gate,
  memory,
  start,
];

const encoder = new TextEncoder();

if (import.meta.main) Deno.exit(await main(Deno.args));

async function main(args: string[]): Promise<number> {
  const options = parseBenchOptions(args);
  if (typeof options === "string") {
    print(`${options}\n\n${BENCH_HELP}`);
    return 2;
  }
  if (options.help) {
    print(BENCH_HELP);
    return 0;
  }
  await using scope = await Scope.open();
  endOnSignal(scope);
  const machine = await machineLine();
  const results = await measureAll(scope, options, machine);
  if (options.json !== undefined) {
    await Deno.writeTextFile(options.json, toJson(machine, results));
  }
  return judge(results, options);
}

async function measureAll(
  scope: Scope,
  options: BenchOptions,
  machine: string,
): Promise<Result[]> {
  const load = await findLoadGenerator(options.load);
  const checkouts = await checkoutsOf(scope, options.against);
  const stock = new Stock(scope, filesOf(options));
  const wanted = (name: string) => name.includes(options.only ?? "");
  print(`${machine}; load by ${load.name}\n\n${header(options.against)}\n`);
  const results: Result[] = [];
  for (const experiment of EXPERIMENTS) {
    if (experiment.onlyFull && !options.full) continue;
    if (!experiment.rows.some(({ name }) => wanted(name))) continue;
    await using own = await scope.nested();
    const stage: Stage = { scope: own, load: load.run, stock, full: options.full };
    for (const result of await runExperiment(experiment, stage, checkouts)) {
      if (!wanted(result.row.name)) continue;
      print(`${rowLine(result)}\n`);
      results.push(result);
    }
  }
  return results;
}

function judge(results: readonly Result[], { check, only }: BenchOptions): number {
  if (results.length === 0) {
    print(`No row has a name that contains ${JSON.stringify(only ?? "")}\n`);
    return 2;
  }
  const broken = brokenRows(results);
  print(
    broken.length === 0
      ? "\nAll rows hold.\n"
      : `\nRows that do not hold:\n${broken.map((name) => `  ${name}\n`).join("")}`,
  );
  return check && broken.length > 0 ? 1 : 0;
}

function print(text: string): void {
  let rest = encoder.encode(text);
  while (rest.byteLength > 0) rest = rest.subarray(Deno.stdout.writeSync(rest));
}

import type { OptionSpec } from "../../options/arguments.ts";

/** The default of `--concurrency`: small files and parts of 10 MB, which are in memory while they are sent. */
export const DEFAULT_CONCURRENCY = 4;

/** Options that choose files. */
export const FILTER_OPTIONS: readonly OptionSpec[] = [
  { name: "include", value: "GLOB", isList: true, help: "only files that match; may be repeated" },
  {
    name: "exclude",
    value: "GLOB",
    isList: true,
    help: "no files that match; may be repeated, and goes before --include",
  },
];

export const DRY_RUN: OptionSpec = {
  name: "dry-run",
  help: "only print what would be done",
};

/** Options of every command that transfers files. */
export const TRANSFER_OPTIONS: readonly OptionSpec[] = [
  ...FILTER_OPTIONS,
  DRY_RUN,
  {
    name: "concurrency",
    value: "COUNT",
    help: "files, or parts of 10 MB, in transfer at once",
    default: `${DEFAULT_CONCURRENCY}`,
  },
  {
    name: "bandwidth",
    value: "SIZE",
    help: "bytes a second at most, such as 500kB",
    unset: "no limit",
  },
];

export const NO_CLOBBER: OptionSpec = {
  name: "no-clobber",
  short: "n",
  help: "leave existing files as they are",
};

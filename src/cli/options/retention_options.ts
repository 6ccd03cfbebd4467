import { type Retention, RETENTION_RULES } from "../../repository/retention.ts";
import type { OptionSpec } from "./arguments.ts";

const PERIOD = { hourly: "hours", daily: "days", weekly: "weeks", monthly: "months" } as const;

/** The options of `backup prune`; `serve` has the same with the prefix `backup-`. */
export const KEEP_OPTIONS: readonly OptionSpec[] = RETENTION_RULES.map((rule) => ({
  name: `keep-${rule}`,
  value: "N",
  help: rule === "last"
    ? "keep the last N snapshots"
    : `keep the newest snapshot of each of N ${PERIOD[rule]}`,
  unset: "none",
}));

/** Returns the rules that are given. @param countOf Returns the value of an option. */
export function retentionOf(countOf: (name: string) => number | undefined): Retention {
  return Object.fromEntries(RETENTION_RULES.map((rule) => [rule, countOf(`keep-${rule}`)]));
}

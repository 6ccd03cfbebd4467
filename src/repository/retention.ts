/**
 * Which snapshots a prune keeps, by the rules of restic: of the last N hours, days, weeks and months that have snapshots, the
 * newest of each, and the last N. Hours and days are those of UTC, weeks begin on Monday.
 *
 * @module
 */
import type { Snapshot } from "./manifest.ts";

/** How many snapshots each rule keeps; without any rule all of them stay. */
export interface Retention {
  last?: number | undefined;
  hourly?: number | undefined;
  daily?: number | undefined;
  weekly?: number | undefined;
  monthly?: number | undefined;
}

export type RetentionRule = keyof Retention;

const DAY = 86_400_000;

/** Returns the period that a time is in, in milliseconds since 1970. */
const PERIODS: Record<RetentionRule, (snapshot: Pick<Snapshot, "time" | "id">) => string> = {
  last: ({ id }) => id,
  hourly: ({ time }) => new Date(time).toISOString().slice(0, 13),
  daily: ({ time }) => new Date(time).toISOString().slice(0, 10),
  // 1970-01-01 was a Thursday.
  weekly: ({ time }) => String(Math.floor((time / DAY + 3) / 7)),
  monthly: ({ time }) => new Date(time).toISOString().slice(0, 7),
};

export const RETENTION_RULES = Object.keys(PERIODS) as RetentionRule[];

export function hasRule(retention: Retention): boolean {
  return RETENTION_RULES.some((rule) => retention[rule] !== undefined);
}

/** Returns the snapshots that stay. @param snapshots The newest last. */
export function keptBy<S extends Pick<Snapshot, "time" | "id">>(
  retention: Retention,
  snapshots: readonly S[],
): Set<S> {
  if (!hasRule(retention)) return new Set(snapshots);
  const kept = new Set<S>();
  for (const rule of RETENTION_RULES) {
    const periods = new Set<string>();
    for (const snapshot of snapshots.toReversed()) {
      const period = PERIODS[rule](snapshot);
      if (periods.has(period) || periods.size >= (retention[rule] ?? 0)) continue;
      periods.add(period);
      kept.add(snapshot);
    }
  }
  // However the rules are written, the newest backup stays.
  const newest = snapshots.at(-1);
  if (newest !== undefined) kept.add(newest);
  return kept;
}

import { DAY } from "../../rules/units.ts";
import type { Database } from "../engine/database.ts";
import { keys } from "../engine/keys.ts";
import { Operation, SharedCheck } from "../engine/operation.ts";
import type { DailyUsageRecord, ProjectRecord } from "../engine/records.ts";
import { transact } from "../engine/transact.ts";

/** Returns the UTC day of a time (milliseconds since 1970), in days since 1970. */
export function dayOf(time: number): number {
  return Math.floor(time / DAY);
}

/** Returns what the record of a day becomes; `undefined` if it stays. `owner` is absent for all projects together. */
export type DailyChange = (
  record: DailyUsageRecord | null,
  owner: ProjectRecord | undefined,
) => DailyUsageRecord | undefined;

/** A record without traffic. */
export const NO_TRAFFIC = { requests: 0, received: 0, sent: 0 } as const satisfies DailyUsageRecord;

/**
 * Changes the record of a day, beside other processes that do the same. A project that does not exist gets no record.
 *
 * @param project Absent for all projects together.
 */
export async function changeDailyUsage(
  db: Database,
  { project, day }: { project: string | undefined; day: number },
  change: DailyChange,
): Promise<void> {
  const key = keys.dailyUsage(project, day);
  await transact(db, async () => {
    const [{ value, versionstamp }, owner] = await Promise.all([
      db.reader.get<DailyUsageRecord>(key),
      project === undefined ? undefined : db.reader.get<ProjectRecord>(keys.project(project)),
    ]);
    if (owner?.value === null) return { result: undefined };
    const changed = change(value, owner?.value);
    if (changed === undefined) return { result: undefined };
    const operation = new Operation().check(key, versionstamp).set(key, changed);
    if (owner !== undefined) operation.share(new SharedCheck(owner.key, owner.versionstamp));
    return { operation, result: undefined };
  });
}

import { DAY, MINUTE } from "../../rules/units.ts";
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

/** How long figures stay in memory, in milliseconds. A crash loses those of this time. */
export const TRAFFIC_INTERVAL = MINUTE;

/** Records that are changed at a time, so that the store groups them into few commits. */
const BATCH = 50;

/** Requests, and the bytes of their bodies and responses. */
export interface Traffic {
  requests: number;
  received: number;
  sent: number;
}

/** The traffic of a day by project, and under `undefined` of all projects together. */
type DayTraffic = Map<string | undefined, Traffic>;

/**
 * Counts the traffic of projects in memory, and adds it to the records of their days once a minute. Each record is read,
 * changed and checked in one operation, so several processes may add to it.
 */
export class TrafficCounter {
  #days = new Map<number, DayTraffic>();
  #timer: ReturnType<typeof setTimeout> | undefined;
  #flushing: Promise<void> = Promise.resolve();
  #isClosed = false;

  constructor(private readonly db: Database, private readonly onError: (error: unknown) => void) {}

  /** Counts a request that has ended. The project must exist: each one takes memory until the next `flush`. */
  count(project: string, { received, sent }: Omit<Traffic, "requests">): void {
    if (this.#isClosed) return;
    const day = dayOf(Date.now());
    const traffic = { requests: 1, received, sent };
    this.#add(day, project, traffic);
    this.#add(day, undefined, traffic);
  }

  /** Stores all figures. If that fails, those that were not stored are kept for the next time. */
  async flush(): Promise<void> {
    const flushed = this.#flushing.then(() => this.#flush());
    this.#flushing = flushed.catch(() => {});
    await flushed;
  }

  /** Stores all figures for the last time. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.flush().catch(this.onError);
    clearTimeout(this.#timer);
  }

  #add(day: number, project: string | undefined, traffic: Traffic): void {
    let projects = this.#days.get(day);
    if (projects === undefined) this.#days.set(day, projects = new Map());
    const sum = projects.get(project);
    if (sum === undefined) {
      projects.set(project, { ...traffic });
      this.#timer ??= setTimeout(() => void this.flush().catch(this.onError), TRAFFIC_INTERVAL);
      Deno.unrefTimer(this.#timer);
      return;
    }
    sum.requests += traffic.requests;
    sum.received += traffic.received;
    sum.sent += traffic.sent;
  }

  async #flush(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const waiting = [...this.#days].flatMap(([day, projects]) =>
      [...projects].map(([project, traffic]) => ({ day, project, traffic }))
    );
    this.#days = new Map();
    const failures: unknown[] = [];
    const store = async ({ day, project, traffic }: typeof waiting[number]): Promise<void> => {
      try {
        // After a failure the store is not asked again until the next time.
        if (failures.length === 0) return await this.#store(day, project, traffic);
      } catch (error) {
        failures.push(error);
      }
      this.#add(day, project, traffic);
    };
    for (let i = 0; i < waiting.length; i += BATCH) {
      await Promise.all(waiting.slice(i, i + BATCH).map(store));
    }
    if (failures.length > 0) throw failures[0];
  }

  /** Adds to the record of a day. A project that was deleted in the meantime gets no record. */
  async #store(day: number, project: string | undefined, traffic: Traffic): Promise<void> {
    await changeDailyUsage(this.db, { project, day }, (record) => {
      const before = record ?? NO_TRAFFIC;
      return {
        ...before,
        requests: before.requests + traffic.requests,
        received: before.received + traffic.received,
        sent: before.sent + traffic.sent,
      };
    });
  }
}

/**
 * The history of usage: for each day and project the files and bytes at its end, and the traffic. The records of all
 * projects together (`undefined` in place of a project) outlive deleted projects.
 *
 * Files and bytes are recorded once a day, for the day before, and only where they have changed. The system clock may
 * jump, and several processes may do it at once, so nothing that was recorded is overwritten, and the oldest records are removed because there are
 * too many of them, not because of their age.
 *
 * @module
 */
import { MAX_USAGE_DAYS, MINUTE } from "../../rules/units.ts";
import type { Database } from "../engine/database.ts";
import { keys, ranges } from "../engine/keys.ts";
import { Operation } from "../engine/operation.ts";
import type { DailyUsageRecord, UsageHistoryRecord } from "../engine/records.ts";
import { deleteAll } from "../engine/transact.ts";
import type { UsedProject } from "./projects.ts";
import {
  changeDailyUsage,
  dayOf,
  NO_TRAFFIC,
  type Traffic,
  TrafficCounter,
} from "./daily_usage.ts";

/** How often a process looks whether a day has ended, in milliseconds. */
export const CLOSE_INTERVAL = MINUTE;

/** Records older than `MAX_USAGE_DAYS` that collect before they are removed, as this reads all records of a project. */
const TRIM_AT = 30;

/** Records before a day in which the last files and bytes are searched. Few records lack them. */
const LOOK_BACK = 8;

/** Projects that are recorded at a time. */
const BATCH = 50;

/** Files and bytes at a time. */
export interface Stock {
  files: number;
  bytes: number;
}

export interface UsageDay extends Stock, Traffic {
  /** Days since 1970. */
  day: number;
}

/** Whose days are read. */
export interface UsageQuery {
  /** Absent for all projects together. */
  project?: string;
  /** When the project was created, in milliseconds since 1970. */
  created?: number;
  /** How many days are read; the last one is today. */
  days: number;
  /** The files and bytes now, which are those of today. */
  stock: Stock;
}

const NOTHING: Stock = { files: 0, bytes: 0 };

export class UsageHistory {
  readonly traffic: TrafficCounter;
  /** The last day that this process knows to be recorded. */
  #closed: number | undefined;
  #isStopped = false;

  /** @param deps.usage Returns the present usage of all projects. */
  constructor(
    private readonly db: Database,
    private readonly deps: {
      usage: () => Promise<UsedProject[]>;
      onError: (error: unknown) => void;
    },
  ) {
    this.traffic = new TrafficCounter(db, deps.onError);
  }

  /**
   * Returns the figures of each day, the oldest first. Days before the project existed, or before the store began to keep
   * figures, are left out. The traffic of the last minute is missing.
   */
  async list({ project, created = 0, days, stock }: UsageQuery): Promise<UsageDay[]> {
    const today = dayOf(Date.now());
    const first = today - days + 1;
    const range = ranges.dailyUsage(project, first, today + 1);
    const history = await this.db.reader.get<UsageHistoryRecord>(keys.usageHistory());
    const records = new Map<number, DailyUsageRecord>();
    for await (const { key, value } of this.db.reader.list<DailyUsageRecord>(range)) {
      records.set(Number(key.at(-1)), value);
    }
    let known = await this.#stockBefore(project, first) ?? NOTHING;
    const start = Math.min(today, Math.max(dayOf(created), history.value?.since ?? today));
    const listed: UsageDay[] = [];
    for (let day = first; day <= today; day++) {
      const record = records.get(day);
      known = day === today ? stock : stockOf(record) ?? known;
      if (day < start) continue;
      const { requests = 0, received = 0, sent = 0 } = record ?? {};
      const { files, bytes } = known;
      listed.push({ day, files, bytes, requests, received, sent });
    }
    return listed;
  }

  /**
   * Records the files and bytes of the day that has ended, unless this was done, and removes the oldest records.
   *
   * @param now Milliseconds since 1970.
   */
  async closeDay(now: number = Date.now()): Promise<void> {
    const yesterday = dayOf(now) - 1;
    if (this.#closed === yesterday) return;
    const key = keys.usageHistory();
    const { value, versionstamp } = await this.db.reader.get<UsageHistoryRecord>(key);
    const closed = value?.closed;
    if (closed === yesterday) {
      this.#closed = yesterday;
      return;
    }
    // No server may have run since the day after the last recorded one: then that day ended with the present usage.
    const days = closed !== undefined && closed < yesterday - 1
      ? [closed + 1, yesterday]
      : [yesterday];
    const sum = { ...NOTHING };
    const usages = await this.deps.usage();
    for (const { files, bytes } of usages) {
      sum.files += files;
      sum.bytes += bytes;
    }
    for (let i = 0; i < usages.length; i += BATCH) {
      const batch = usages.slice(i, i + BATCH);
      await Promise.all(batch.map((usage) => this.#close(usage.project, usage, days)));
      if (this.#isStopped) return;
    }
    await this.#close(undefined, sum, days);
    const since = Math.min(yesterday + 1, value?.since ?? Infinity);
    const record: UsageHistoryRecord = { since, closed: yesterday };
    const operation = new Operation().check(key, versionstamp).set(key, record);
    if ((await this.db.commit(operation)).ok) this.#closed = yesterday;
  }

  /** Stops `closeDay` after its current batch. */
  stop(): void {
    this.#isStopped = true;
  }

  async #close(project: string | undefined, stock: Stock, days: readonly number[]): Promise<void> {
    for (const day of days) await this.#record(project, stock, day);
    await this.#trim(project, days);
  }

  /** Records the files and bytes of a day, unless it has some, or they are those of the days before. */
  async #record(project: string | undefined, stock: Stock, day: number): Promise<void> {
    const before = await this.#stockBefore(project, day) ?? NOTHING;
    await changeDailyUsage(this.db, { project, day }, (record, owner) => {
      if (owner !== undefined && dayOf(owner.created) > day) return undefined;
      const isKnown = record === null ? isSame(before, stock) : stockOf(record) !== undefined;
      if (isKnown) return undefined;
      return { ...(record ?? NO_TRAFFIC), files: stock.files, bytes: stock.bytes };
    });
  }

  /** Removes all but the newest `MAX_USAGE_DAYS` records, now and then. */
  async #trim(project: string | undefined, days: readonly number[]): Promise<void> {
    const end = Math.max(...days) + 1 - MAX_USAGE_DAYS;
    const old = this.db.reader.list(ranges.dailyUsage(project, -Infinity, end), {
      limit: TRIM_AT,
    });
    if ((await Array.fromAsync(old)).length < TRIM_AT) return;
    await deleteAll(this.db, this.#surplus(project));
  }

  async *#surplus(project: string | undefined): AsyncGenerator<Deno.KvEntry<unknown>> {
    let count = 0;
    const all = ranges.dailyUsage(project, -Infinity, Infinity);
    for await (const entry of this.db.reader.list(all, { reverse: true })) {
      if (++count > MAX_USAGE_DAYS) yield entry;
    }
  }

  /** Returns the last files and bytes that were recorded before a day. */
  async #stockBefore(project: string | undefined, day: number): Promise<Stock | undefined> {
    const range = ranges.dailyUsage(project, -Infinity, day);
    const newestFirst = this.db.reader.list<DailyUsageRecord>(range, {
      reverse: true,
      limit: LOOK_BACK,
    });
    for await (const { value } of newestFirst) {
      const stock = stockOf(value);
      if (stock !== undefined) return stock;
    }
    return undefined;
  }
}

/** Returns the files and bytes of a record, if the day has ended. */
function stockOf(record: DailyUsageRecord | undefined): Stock | undefined {
  const { files, bytes } = record ?? {};
  return files === undefined || bytes === undefined ? undefined : { files, bytes };
}

function isSame(a: Stock, b: Stock): boolean {
  return a.files === b.files && a.bytes === b.bytes;
}

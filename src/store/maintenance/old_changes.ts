import { DAY, MINUTE } from "../../rules/units.ts";
import { LAST_INDEX, type Position } from "../changes/cursor.ts";
import type { Database } from "../engine/database.ts";
import { keys, prefixes, ranges } from "../engine/keys.ts";
import { type ChangesRecord, Operation } from "../engine/operation.ts";
import type { ProjectRecord } from "../engine/records.ts";
import { deleteAll } from "../engine/transact.ts";
import { TrustedClock } from "./clocks.ts";

/** How often the feeds are searched for old changes, in milliseconds. Each drive with a feed costs two reads. */
export const CHANGES_SWEEP_INTERVAL = 10 * MINUTE;

/** Entries that one operation deletes. */
const BATCH = 200;

/** Removes from the feeds what is older than their projects keep, and the feeds that were turned off. */
export class OldChanges {
  /** A clock that has just jumped forward must not delete changes. */
  readonly #clock = new TrustedClock();
  #isStopped = false;

  constructor(private readonly db: Database) {}

  /** @param ahead Milliseconds to add to the present time. */
  async sweep(ahead = 0): Promise<void> {
    const now = this.#clock.now() + ahead;
    let feed: Deno.KvKey | undefined;
    while (!this.#isStopped) {
      feed = await this.#firstFeed(ranges.feedsAfter(feed));
      if (feed === undefined) break;
      const [, project = "", secret = "", drive = ""] = feed.map(String);
      const { value } = await this.db.reader.get<ProjectRecord>(keys.project(project));
      if (value?.feed === secret) {
        const before = now - (value.changeDays ?? 0) * DAY;
        await this.#trim(feed, keys.feedHorizon(project, secret, drive), before);
      } else {
        const changes = this.db.reader.list({ prefix: feed }, { unreadable: true });
        await deleteAll(this.db, changes, () => this.#isStopped);
      }
    }
    await this.#deleteHorizons();
  }

  /** Stops a sweep after its current batch. */
  stop(): void {
    this.#isStopped = true;
  }

  async #firstFeed(range: Deno.KvListSelector): Promise<Deno.KvKey | undefined> {
    const entries = this.db.reader.list(range, { limit: 1, batchSize: 1, unreadable: true });
    for await (const { key } of entries) return key.slice(0, -1);
    return undefined;
  }

  /** Removes the entries of a feed from before a time, in milliseconds since 1970. */
  async #trim(feed: Deno.KvKey, horizonKey: Deno.KvKey, before: number): Promise<void> {
    while (!this.#isStopped) {
      const [horizon] = await this.db.reads.get<[Position]>([horizonKey]);
      const removal = new Operation().check(horizonKey, horizon.versionstamp);
      let size = 0;
      let newest: Position | undefined;
      const entries = this.db.reader.list<ChangesRecord>(ranges.feedFrom(feed, ""), {
        limit: BATCH,
        batchSize: BATCH,
        unreadable: true,
      });
      for await (const { key, value } of entries) {
        if (value !== null && value.at >= before) break;
        removal.delete(key);
        newest = { stamp: String(key.at(-1)), index: value?.changes.length ?? LAST_INDEX };
        size++;
      }
      if (newest === undefined) return;
      removal.set(horizonKey, newest satisfies Position);
      // If another process was faster, the next round goes on from there.
      await this.db.commitBulk(removal);
      if (size < BATCH) return;
    }
  }

  /** Deletes the horizons of feeds that were turned off. */
  async #deleteHorizons(): Promise<void> {
    const horizons = this.db.reader.list({ prefix: prefixes.all("change_horizon") }, {
      unreadable: true,
    });
    for await (const { key } of horizons) {
      if (this.#isStopped) return;
      const [, project = "", secret] = key.map(String);
      const { value } = await this.db.reader.get<ProjectRecord>(keys.project(project));
      if (value?.feed !== secret) await this.db.commit(new Operation().delete(key));
    }
  }
}

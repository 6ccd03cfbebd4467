import { SECOND } from "../../rules/units.ts";
import type { Database } from "../engine/database.ts";
import { UnreadableEntry } from "../engine/errors.ts";
import { keys } from "../engine/keys.ts";
import { Operation } from "../engine/operation.ts";
import type { LinkRecord } from "../engine/records.ts";
import { readMany } from "../reads/read_queue.ts";

/** How long counts stay in memory, in milliseconds. A crash loses those of this time. */
const COUNT_INTERVAL = 2 * SECOND;

/**
 * Counts the downloads of links without a limit. A commit for each would cost more than most downloads, so counts are
 * added up in memory and stored together.
 */
export class DownloadCounts {
  #pending = new Map<string, number>();
  #timer: ReturnType<typeof setTimeout> | undefined;
  #flushing: Promise<void> = Promise.resolve();

  constructor(private readonly db: Database, private readonly onError: (error: unknown) => void) {}

  add(id: string): void {
    this.#add(id, 1);
  }

  /** Stores all counts for the last time. */
  async close(): Promise<void> {
    await this.flush().catch(this.onError);
    clearTimeout(this.#timer);
  }

  #add(id: string, by: number): void {
    this.#pending.set(id, (this.#pending.get(id) ?? 0) + by);
    this.#timer ??= setTimeout(() => void this.flush().catch(this.onError), COUNT_INTERVAL);
  }

  /** Stores all counts. If that fails, they are kept for the next time. */
  async flush(): Promise<void> {
    // One at a time: a caller that reads the counters afterwards finds every download that was counted before.
    const flushed = this.#flushing.then(() => this.#flush());
    this.#flushing = flushed.catch(() => {});
    await flushed;
  }

  async #flush(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const counts = this.#pending;
    if (counts.size === 0) return;
    this.#pending = new Map();
    const links = await this.#attempt(
      counts,
      () => readMany<LinkRecord>(this.db.reader, [...counts.keys()].map(keys.link)),
    );
    const stored = links.map(async ({ key, value, versionstamp }) => {
      const id = String(key.at(-1));
      const by = counts.get(id) ?? 0;
      // A link that was revoked in the meantime must not get a counter again: then the operation is refused. So it is if
      // the link was changed, whose count is stored with the next ones.
      const operation = new Operation().check(key, versionstamp).sum(keys.linkDownloads(id), by);
      if (value === null) return;
      const { ok } = await this.#attempt(new Map([[id, by]]), () => this.#commit(operation));
      if (!ok) this.#add(id, by);
    });
    await Promise.all(stored);
  }

  /** What cannot be added to a damaged count is lost like the count: the counts of other links must be stored. */
  async #commit(operation: Operation): Promise<{ ok: boolean }> {
    try {
      return await this.db.commit(operation);
    } catch (error) {
      if (error instanceof UnreadableEntry) return { ok: true };
      throw error;
    }
  }

  /** Runs a step. If it fails, its counts are pending again. */
  async #attempt<T>(counts: ReadonlyMap<string, number>, step: () => Promise<T>): Promise<T> {
    try {
      return await step();
    } catch (error) {
      for (const [id, by] of counts) this.#add(id, by);
      throw error;
    }
  }
}

import type { Database } from "../engine/database.ts";
import { keys } from "../engine/keys.ts";
import { Operation } from "../engine/operation.ts";
import { SECOND } from "../../rules/units.ts";

/** How often the lease is renewed, or looked at, in milliseconds. */
export const LEASE_INTERVAL = 4 * SECOND;

/**
 * How long the lease of another process must not have changed before it is taken over, in milliseconds: "another takes over
 * within 30 s when the one that delivers dies".
 */
const LEASE_TIME = 12 * SECOND;

/**
 * Makes one of the processes on a store deliver. Its entry changes with each renewal, and others watch that on their own
 * monotonic clocks, so no two clocks are compared. A process that was stopped for longer than the lease may deliver once
 * more what another one delivers; the cursors then tell which of the two counts.
 */
export class WebhookLease {
  /** The versionstamp that this process has given to the entry; `undefined` while another one holds it. */
  #own: string | undefined;
  #renewed = -Infinity;
  /** What was seen last, and since when. */
  #seen: { versionstamp: string | null; since: number } = { versionstamp: null, since: -Infinity };

  constructor(private readonly db: Database, private readonly clock = () => performance.now()) {}

  /** Whether this process holds the lease. */
  get isHeld(): boolean {
    return this.#own !== undefined && this.clock() - this.#renewed < LEASE_TIME;
  }

  /** Renews the lease, or takes it if it is free. Returns whether this process holds it. */
  async hold(): Promise<boolean> {
    const now = this.clock();
    const { key, versionstamp } = await this.db.reader.get(keys.webhookLease());
    if (versionstamp !== this.#seen.versionstamp) this.#seen = { versionstamp, since: now };
    const isOwn = versionstamp !== null && versionstamp === this.#own;
    const isFree = versionstamp === null || now - this.#seen.since >= LEASE_TIME;
    if (!isOwn && !isFree) {
      this.#own = undefined;
      return false;
    }
    const outcome = await this.db.commit(new Operation().check(key, versionstamp).set(key, true));
    this.#own = outcome.ok ? outcome.versionstamp : undefined;
    if (outcome.ok) this.#renewed = now;
    return this.isHeld;
  }

  /** Lets another process take over at once. */
  async release(): Promise<void> {
    const own = this.#own;
    this.#own = undefined;
    if (own === undefined) return;
    const key = keys.webhookLease();
    await this.db.commit(new Operation().check(key, own).delete(key));
  }
}

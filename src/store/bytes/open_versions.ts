import { SECOND } from "../../rules/units.ts";
import type { Database } from "../engine/database.ts";
import { keys } from "../engine/keys.ts";
import { Operation } from "../engine/operation.ts";

/**
 * How often the leases of long reads are renewed. A read has one after it has taken between one and two of these
 * intervals, and thus before the bytes of a replaced version are deleted (`GARBAGE_GRACE`).
 */
export const READ_LEASE_RENEWAL = 15 * SECOND;

/** How long bytes stay for a reader whose process has died: several renewals may fail before. */
export const READ_LEASE_TIME = 6 * READ_LEASE_RENEWAL;

/** Leases that one operation renews. */
const BATCH = 200;

interface Readers {
  count: number;
  /** Renewals that they have seen. */
  renewals: number;
}

/**
 * Versions that this process is reading. The garbage collector of this process keeps their bytes until the last reader
 * has finished. For those of other processes long reads have leases in the store; short ones write nothing.
 */
export class OpenVersions {
  readonly #readers = new Map<string, Readers>();
  /** Names this process in the keys of its leases. */
  readonly #process = crypto.randomUUID();
  #timer: ReturnType<typeof setInterval> | undefined;

  constructor(private readonly db: Database) {}

  /** Adds a reader of a version. Returns a function that removes it; calling that again has no effect. */
  hold(version: string): () => void {
    const readers = this.#readers.get(version) ?? { count: 0, renewals: 0 };
    readers.count++;
    this.#readers.set(version, readers);
    // A failed renewal is followed by the next one: the store may be unreachable for a while.
    this.#timer ??= setInterval(() => void this.renew().catch(() => {}), READ_LEASE_RENEWAL);
    Deno.unrefTimer(this.#timer);
    let isHeld = true;
    return () => {
      if (!isHeld) return;
      isHeld = false;
      if (--readers.count === 0) this.#close(version, readers);
    };
  }

  get count(): number {
    return this.#readers.size;
  }

  has(version: string): boolean {
    return this.#readers.has(version);
  }

  /** Gives the versions that were open at the last call a lease, or extends it to its full time. */
  async renew(): Promise<void> {
    const long = [...this.#readers].filter(([, readers]) => readers.renewals++ > 0);
    for (let i = 0; i < long.length; i += BATCH) {
      const operation = new Operation();
      for (const [version] of long.slice(i, i + BATCH)) {
        operation.set(this.#leaseOf(version), Date.now() + READ_LEASE_TIME);
      }
      await this.db.commit(operation);
    }
  }

  #close(version: string, { renewals }: Readers): void {
    this.#readers.delete(version);
    if (this.#readers.size === 0) {
      clearInterval(this.#timer);
      this.#timer = undefined;
    }
    if (renewals < 2) return;
    // A lease that stays behind ends by itself.
    this.db.commit(new Operation().delete(this.#leaseOf(version))).catch(() => {});
  }

  #leaseOf(version: string): Deno.KvKey {
    return keys.readLease(version, this.#process);
  }
}

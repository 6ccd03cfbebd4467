/**
 * The clocks of the background work. The system clock may jump, so durations within a process are measured by the
 * monotonic clock. Deadlines in the store are milliseconds since 1970, as processes and restarts share no other time.
 *
 * The effect of setting the system clock forward or back on each kind of entry:
 *
 * - a lease: none (`SilentLeases`);
 * - garbage: none if set forward (`TrustedClock`); if set back, garbage from shortly before is deleted later by as much;
 * - a file that expires: it is absent earlier or later by as much. If the clock was set forward, it is deleted a minute later
 *   (`TrustedClock`);
 * - an open upload or a session of a browser: it expires earlier or later by as much. It is deleted when it is found to
 *   be expired, so it does not come back;
 * - an entry that expires: it is deleted earlier or later by as much. For a session or an upload that has the effect above.
 *   `recounted` matters while one `verify` runs, and lives for a day. `commit`, which a shared store drops by itself,
 *   matters for seconds, and lives for ten minutes: only a clock that is set forward within these seconds makes an
 *   operation whose answer was lost look refused.
 *
 * @module
 */
import { DAY, SECOND } from "../../rules/units.ts";
import { GARBAGE_GRACE } from "../bytes/garbage.ts";
import { READ_LEASE_TIME } from "../bytes/open_versions.ts";
import { WRITE_LEASE_TIME } from "../bytes/write_lease.ts";
import { identityOf } from "../engine/keys.ts";

/**
 * The interval between two runs of the garbage collector, in milliseconds. With `GARBAGE_GRACE` it leaves 15 s for the run
 * itself, so that replaced bytes are deleted within 90 s.
 */
export const SWEEP_INTERVAL = 15 * SECOND;

/**
 * How long ago a lease must have ended by the system clock, in milliseconds, to be dead at first sight. This serves
 * processes that do not run long enough to watch a lease, such as those that a schedule starts.
 */
const LONG_ENDED = DAY;

/** The system clock and the monotonic clock may differ by this without a jump, in milliseconds: one is slewed, read later. */
const CLOCK_TOLERANCE = SECOND;

interface WatchedLease {
  versionstamp: string;
  /** How long it has not been renewed, in milliseconds. */
  silence: number;
}

/**
 * Finds the leases of dead processes: those that were not renewed for their time while this process watched. It needs no
 * other process' clock, and jumps have no effect. Time in which this process was suspended does not count, as the holder
 * of the lease may have been suspended with it.
 */
export class SilentLeases {
  #watched = new Map<string, WatchedLease>();
  #lookedAt = performance.now();

  /**
   * Returns the dead ones of all leases in the store.
   *
   * @param ahead Milliseconds to add to the time that has passed, for tests.
   */
  dead(leases: readonly Deno.KvEntry<number>[], ahead: number): Deno.KvEntry<number>[] {
    const longEnded = Date.now() + ahead - LONG_ENDED;
    const elapsed = performance.now() - this.#lookedAt;
    const passed = Math.min(elapsed, 2 * SWEEP_INTERVAL) + ahead;
    this.#lookedAt = performance.now();
    const watched = new Map<string, WatchedLease>();
    const dead = leases.filter(({ key, value, versionstamp }) => {
      const id = identityOf(key);
      const before = this.#watched.get(id);
      const silence = before?.versionstamp === versionstamp ? before.silence + passed : ahead;
      watched.set(id, { versionstamp, silence });
      // The system clock counts at first sight only: a later jump must not end a lease that was seen alive.
      const time = isReadLease(key) ? READ_LEASE_TIME : WRITE_LEASE_TIME;
      return silence >= time || (before === undefined && value < longEnded);
    });
    this.#watched = watched;
    return dead;
  }
}

export function isReadLease(key: Deno.KvKey): boolean {
  return key.length === 3;
}

/**
 * The system clock, except that a jump forward counts `GARBAGE_GRACE` later: readers in other processes keep replaced bytes
 * for that time even then. A clock that is set back counts at once.
 */
export class TrustedClock {
  /** The time of the system clock when the monotonic clock began, as far as it is trusted. */
  #origin = Date.now() - performance.now();
  /** When a jump forward was first seen, by the monotonic clock. */
  #jumpSeen: number | undefined;

  /** Returns the trusted time in milliseconds since 1970. */
  now(): number {
    const now = Date.now();
    const monotonic = performance.now();
    const isAhead = now - monotonic > this.#origin + CLOCK_TOLERANCE;
    if (!isAhead) this.#jumpSeen = undefined;
    else this.#jumpSeen ??= monotonic;
    const waits = this.#jumpSeen !== undefined && monotonic - this.#jumpSeen < GARBAGE_GRACE;
    if (waits) return this.#origin + monotonic;
    this.#jumpSeen = undefined;
    this.#origin = now - monotonic;
    return now;
  }
}

/**
 * What the background work relies on in place of the system's clock, which may jump.
 *
 * Within a process, durations are measured by the monotonic clock. Deadlines in the store are milliseconds since 1970, as
 * processes and restarts have no other time in common. What a system clock that is set forward or back does to each:
 *
 * - a lease: nothing (`SilentLeases`);
 * - garbage: set forward, nothing (`ForwardGuard`); set back, what was thrown away shortly before is reclaimed later by as
 *   much as the clock was set back;
 * - an open upload, a browser that signed in: they end earlier or later by as much. What was found to be over is deleted
 *   then, so it stays over;
 * - entries that are removed at a deadline: they go earlier or later by as much. That of a session or an upload does what
 *   its deadline does; `recounted` matters for as long as one `verify` runs, and lives for a day; `commit`, which a shared
 *   store drops by itself, matters for some seconds, and lives for ten minutes: only a clock that is set forward within these
 *   seconds makes an operation whose answer was lost look refused.
 *
 * @module
 */

import { SECOND } from "../../rules/units.ts";
import { GARBAGE_GRACE } from "../files/garbage.ts";
import { WRITE_LEASE_TIME } from "../files/write_lease.ts";

/**
 * Time between two sweeps. Together with `GARBAGE_GRACE` it leaves 15 s for the sweep itself, so that replaced bytes are
 * reclaimed within 90 s.
 */
export const SWEEP_INTERVAL = 15 * SECOND;

/**
 * How long a lease must be over by the system's clock, in milliseconds, until that alone counts. For processes that
 * never run for long enough to see that a lease is not renewed, such as those that a schedule starts.
 */
const LEASE_LONG_OVER = 24 * 60 * 60_000;

/** A clock may differ by this from the monotonic one without having jumped, in milliseconds: it is slewed, read later. */
const CLOCK_TOLERANCE = 1000;

/** What is known of a lease. */
interface SeenLease {
  versionstamp: string;
  /** How long it has not been renewed, in milliseconds. */
  silence: number;
}

/**
 * Finds the leases whose holder has died: those that were not renewed for `WRITE_LEASE` while this process watched. The
 * clocks of the processes do not matter, nor do jumps. A time in which this process itself stood still does not count:
 * the holder may have stood still with it.
 */
export class SilentLeases {
  #seen = new Map<string, SeenLease>();
  #lookedAt = performance.now();

  /**
   * Those of all leases in the store whose holder has died.
   *
   * @param ahead As if so many milliseconds more had passed.
   */
  dead(leases: readonly Deno.KvEntry<number>[], ahead: number): Deno.KvEntry<number>[] {
    const longOver = Date.now() + ahead - LEASE_LONG_OVER;
    const elapsed = performance.now() - this.#lookedAt;
    const watched = Math.min(elapsed, 2 * SWEEP_INTERVAL) + ahead;
    this.#lookedAt = performance.now();
    const seen = new Map<string, SeenLease>();
    const dead = leases.filter(({ key, value, versionstamp }) => {
      const id = String(key.at(-1));
      const known = this.#seen.get(id);
      const silence = known?.versionstamp === versionstamp ? known.silence + watched : ahead;
      seen.set(id, { versionstamp, silence });
      // At the first look alone: a clock that jumps later by more than that must not end what was seen alive.
      return silence >= WRITE_LEASE_TIME || (known === undefined && value < longOver);
    });
    this.#seen = seen;
    return dead;
  }
}

/**
 * The system's clock, but for jumps forward: those count `GARBAGE_GRACE` later, so that replaced bytes are kept for that
 * time for readers in other processes even then. A clock that is set back counts at once.
 */
export class TrustedClock {
  /** The time of the system's clock when the monotonic clock began, as far as it is trusted. */
  #origin = Date.now() - performance.now();
  /** When the clock was first seen to be ahead of that, by the monotonic clock. */
  #jumpSeen: number | undefined;

  /** The time to trust, in milliseconds since 1970. */
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

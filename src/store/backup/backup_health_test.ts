import { assertEquals, assertMatch } from "@std/assert";
import { HOUR } from "../../rules/units.ts";
import { BackupHealth } from "./backup_health.ts";

const NOON = Date.UTC(2026, 10, 21, 12, 0, 0);

/** Runs a test with a monotonic clock that it advances. */
function withClock(test: (pass: (milliseconds: number) => void) => void): void {
  const { now } = performance;
  // Whole milliseconds, so that steps add up exactly.
  let time = Math.round(performance.now());
  performance.now = () => time;
  try {
    test((milliseconds) => time += milliseconds);
  } finally {
    performance.now = now;
  }
}

Deno.test("A server without a backup reports that after twice the interval", () => {
  withClock((pass) => {
    const health = new BackupHealth("/backups", HOUR);
    health.recordNewest(undefined, NOON);
    assertEquals(health.status(), {
      every: HOUR,
      newest: undefined,
      failures: 0,
      problem: undefined,
    });
    pass(2 * HOUR + 1);
    assertMatch(health.status().problem ?? "", /no complete backup in \/backups/);
  });
});

Deno.test("A backup that is too old is reported, also if it becomes too old while the server runs", () => {
  withClock((pass) => {
    const health = new BackupHealth("/backups", HOUR);
    health.recordNewest(NOON - 2 * HOUR - 1, NOON);
    assertMatch(health.status().problem ?? "", /newest backup in \/backups is of 2026-11-21T09/);
    health.recordNewest(NOON - HOUR, NOON);
    assertEquals(health.status().problem, undefined);
    pass(HOUR + 1);
    assertMatch(health.status().problem ?? "", /older than 2 × 3600 s/);
  });
});

Deno.test("A wall clock that jumps by years raises no alarm about a fresh backup", () => {
  withClock((pass) => {
    const health = new BackupHealth("/backups", HOUR);
    health.recordSuccess();
    health.recordNewest(NOON, Date.UTC(2040, 0, 1));
    assertEquals(health.status().problem, undefined);
    health.recordNewest(undefined, Date.UTC(2000, 0, 1));
    assertEquals(health.status().problem, undefined);
    pass(2 * HOUR + 1);
    assertMatch(health.status().problem ?? "", /no complete backup/);
  });
});

Deno.test("A failure is counted, and is a problem until a backup succeeds", () => {
  const health = new BackupHealth("/backups", HOUR);
  health.recordFailure(new Error("No space left"));
  health.recordFailure(new Error("No space left"));
  assertEquals(health.status().problem, "The last backup failed: No space left");
  health.recordSuccess();
  assertEquals([health.status().failures, health.status().problem], [2, undefined]);
});

Deno.test("A missing backup that another process prevents is reported with that reason", () => {
  withClock((pass) => {
    const health = new BackupHealth("/backups", HOUR);
    health.recordBlocked(true);
    assertEquals(health.status().problem, undefined);
    pass(2 * HOUR + 1);
    assertMatch(health.status().problem ?? "", /no complete backup.*another process has the lock/);
    assertMatch(health.reminder()?.message ?? "", /another process has the lock/);
    assertEquals(health.reminder(), undefined);
    pass(HOUR);
    assertMatch(health.reminder()?.message ?? "", /another process has the lock/);
    health.recordBlocked(false);
    assertMatch(health.status().problem ?? "", /no complete backup in \/backups$/);
  });
});

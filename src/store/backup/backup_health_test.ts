import { assertEquals, assertMatch } from "@std/assert";
import { HOUR, MINUTE } from "../../rules/units.ts";
import { BackupInProgress } from "../engine/errors.ts";
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

Deno.test("Another process blocks backups only if it writes nothing for long", () => {
  withClock((pass) => {
    const health = new BackupHealth("/backups", HOUR);
    const runs = new BackupInProgress("Another backup is being made: /backups/kvdrive-backup.part");
    for (let size = 0; size < 30; size++) {
      health.recordBlocked(runs, String(size));
      assertEquals(health.status().problem, undefined);
      pass(MINUTE);
    }
    for (let minutes = 0; minutes < 10; minutes++) {
      health.recordBlocked(runs, "29");
      pass(MINUTE);
    }
    assertMatch(health.status().problem ?? "", /another process holds the lock/);
    assertMatch(health.reminder()?.message ?? "", /another process holds the lock/);
    assertEquals(health.reminder(), undefined);
    pass(HOUR);
    assertMatch(health.reminder()?.message ?? "", /another process holds the lock/);
    health.recordIdle();
    assertEquals(health.reminder(), undefined);
  });
});

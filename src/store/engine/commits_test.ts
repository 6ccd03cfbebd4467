import { openValue } from "../reads/record_codec.ts";
import { assert, assertEquals, assertRejects } from "@std/assert";
import { join } from "@std/path/join";
import { DatabaseSync } from "node:sqlite";
import { StoreFull } from "../disk/disk_space.ts";
import { LOCKED_RETRY_TIME } from "../disk/sqlite.ts";
import { withFolder, withKv } from "../testing/stores.ts";
import { commitWithRetries, embeddedCommits } from "./commits.ts";
import { StoreUnavailable } from "./errors.ts";
import { Operation } from "./operation.ts";

/** Runs a test with a store whose first commits fail with these errors. `tries` returns how many commits it got. */
async function withFailing(
  errors: readonly Error[],
  test: (kv: Deno.Kv, tries: () => number) => Promise<void>,
): Promise<void> {
  await withKv(async (kv) => {
    let tries = 0;
    const atomic = kv.atomic.bind(kv);
    kv.atomic = () => {
      const error = errors[tries++];
      const operation = atomic();
      if (error !== undefined) operation.commit = () => Promise.reject(error);
      return operation;
    };
    await test(kv, () => tries);
  });
}

/** Runs a test with a monotonic clock that advances by `step` milliseconds whenever it is read. */
async function withClock(step: number, test: () => Promise<void>): Promise<void> {
  const { now } = performance;
  let time = performance.now();
  performance.now = () => time += step;
  try {
    await test();
  } finally {
    performance.now = now;
  }
}

const locked = new TypeError("database is locked");

Deno.test("A commit waits for another process that holds the lock", async () => {
  await withFolder(async (folder) => {
    const path = join(folder, "store.db");
    using kv = await Deno.openKv(path);
    await kv.set(["b"], 1);
    const other = new DatabaseSync(path);
    try {
      other.exec("BEGIN IMMEDIATE");
      let unlocked = false;
      const timer = setTimeout(() => {
        unlocked = true;
        other.exec("COMMIT");
      }, 100);
      const outcome = await commitWithRetries(kv, new Operation().check(["a"], null).set(["a"], 1));
      clearTimeout(timer);
      assertEquals([unlocked, outcome.ok, openValue(["a"], (await kv.get(["a"])).value)], [
        true,
        true,
        1,
      ]);
    } finally {
      other.close();
    }
  });
});

Deno.test("A commit on a locked database is retried and applied once", async () => {
  const busy = new TypeError("database table is locked");
  await withFailing([locked, busy, locked], async (kv, tries) => {
    const outcome = await commitWithRetries(kv, new Operation().sum(["n"], 1));
    assertEquals([outcome.ok, tries()], [true, 4]);
    assertEquals((await kv.get<Deno.KvU64>(["n"])).value?.value, 1n);
  });
});

Deno.test("The time that a commit waits for a lock begins when it meets the lock", async () => {
  await withFailing([locked], async (kv, tries) => {
    const atomic = kv.atomic.bind(kv);
    const clock = performance.now;
    let time = clock.call(performance);
    performance.now = () => time;
    // A slow disk holds the commit up before the database looks at the lock.
    kv.atomic = () => {
      time += 2 * LOCKED_RETRY_TIME;
      return atomic();
    };
    try {
      const outcome = await commitWithRetries(kv, new Operation().set(["a"], 1));
      assertEquals([outcome.ok, tries()], [true, 2]);
    } finally {
      performance.now = clock;
    }
  });
});

Deno.test("A database that stays locked is unavailable, and the error has the cause", async () => {
  await withFailing(Array.from({ length: 100 }, () => locked), async (kv, tries) => {
    await withClock(LOCKED_RETRY_TIME / 4, async () => {
      const commit = () => commitWithRetries(kv, new Operation().set(["a"], 1));
      const error = await assertRejects(commit, StoreUnavailable);
      assertEquals(error.cause, locked);
    });
    assert(tries() > 1 && tries() < 10, String(tries()));
    assertEquals((await kv.get(["a"])).value, null);
  });
});

Deno.test("While the database stays locked commits fail at once, and succeed when it is free", async () => {
  await withFailing(Array.from({ length: 100 }, () => locked), async (kv, tries) => {
    let isFree = false;
    const { once } = embeddedCommits(kv, { isFree: () => isFree });
    const commit = () => once(new Operation().set(["a"], 1));
    await withClock(LOCKED_RETRY_TIME, async () => {
      await assertRejects(commit, StoreUnavailable);
    });
    const before = tries();
    await assertRejects(commit, StoreUnavailable);
    assertEquals(tries(), before);
    isFree = true;
    await withClock(LOCKED_RETRY_TIME, async () => {
      await assertRejects(commit, StoreUnavailable);
    });
    assert(tries() > before);
  });
});

Deno.test("A commit on a full disk is not retried", async () => {
  const full = new TypeError("database or disk is full");
  await withFailing([full], async (kv, tries) => {
    const commit = () => commitWithRetries(kv, new Operation().set(["a"], 1));
    assertEquals((await assertRejects(commit, StoreFull)).cause, full);
    assertEquals(tries(), 1);
  });
});

Deno.test("Other errors are thrown unchanged and without a retry", async () => {
  const others = [
    new TypeError("Value too large (max 65536 bytes)"),
    new TypeError("database disk image is malformed"),
  ];
  for (const other of others) {
    await withFailing([other], async (kv, tries) => {
      const commit = () => commitWithRetries(kv, new Operation().set(["a"], 1));
      assertEquals(await assertRejects(commit, Error), other);
      assertEquals(tries(), 1);
    });
  }
});

Deno.test("A failed check is an outcome and is not retried", async () => {
  await withFailing([], async (kv, tries) => {
    const operation = new Operation().check(["a"], "00000000000000010000").set(["a"], 1);
    assertEquals((await commitWithRetries(kv, operation)).ok, false);
    assertEquals(tries(), 1);
  });
});

import { assert, assertEquals, assertRejects, assertThrows } from "@std/assert";
import { HOUR } from "../../rules/units.ts";
import { Database, openMemoryDatabase } from "../engine/database.ts";
import { openDatabase } from "../engine/database_file.ts";
import { StoreUnavailable } from "../engine/errors.ts";
import { keys, ranges } from "../engine/keys.ts";
import { Operation } from "../engine/operation.ts";
import type { Garbage, PendingWrite, Place } from "../engine/records.ts";
import { SWEEP_INTERVAL } from "../maintenance/clocks.ts";
import { GarbageCollector } from "../maintenance/garbage_collector.ts";
import { assertKeys, countEntries } from "../testing/entries.ts";
import { enders, sharedParts, testOnAll, withFolder } from "../testing/stores.ts";
import { until, withClock } from "../testing/time.ts";
import { OpenVersions } from "./open_versions.ts";
import { ChunkWriter } from "./receive.ts";
import { LATE_WRITE_TIME, LEASE_RENEWAL, WRITE_LEASE_TIME, WriteLease } from "./write_lease.ts";

const PLACE: Place = { project: "p", drive: "d", name: "a.txt" };

async function withDatabase(test: (db: Database) => Promise<void>): Promise<void> {
  const db = await openMemoryDatabase();
  try {
    await test(db);
  } finally {
    await db.close();
  }
}

/** Returns the journal entry of a version and the end of its lease. */
async function journal(
  db: Database,
  version = "v1",
): Promise<[PendingWrite | null, number | null]> {
  const [entry, until] = await db.reader.getMany<[PendingWrite, number]>([
    keys.pending(version),
    keys.lease(version),
  ]);
  return [entry.value, until.value];
}

async function garbage(db: Database): Promise<Garbage[]> {
  const entries = db.reader.list<Garbage>(ranges.garbageDue(Date.now()));
  return await Array.fromAsync(entries, ({ value }) => value);
}

/** Intervals that elapse on demand. */
class FakeIntervals {
  readonly #real = { set: globalThis.setInterval, clear: globalThis.clearInterval };
  readonly #running = new Map<number, () => void>();

  constructor() {
    let last = 0;
    const set = (work: () => void): number => {
      this.#running.set(++last, work);
      return last;
    };
    const clear = (id: number): void => void this.#running.delete(id);
    Object.assign(globalThis, { setInterval: set, clearInterval: clear });
  }

  get running(): number {
    return this.#running.size;
  }

  pass(): void {
    for (const work of this.#running.values()) work();
  }

  [Symbol.dispose](): void {
    Object.assign(globalThis, {
      setInterval: this.#real.set,
      clearInterval: this.#real.clear,
    });
  }
}

Deno.test("A lease journals the bytes that will be written", async () => {
  await withDatabase(async (db) => {
    const before = Date.now();
    const lease = await WriteLease.begin(db, PLACE, "v1", 160);
    const [entry, until] = await journal(db);
    assertEquals(entry, { ...PLACE, version: "v1", chunks: 160 });
    assert(until !== null && until >= before + WRITE_LEASE_TIME);
    assertEquals(await lease.holds(), true);
    lease.end();
  });
});

Deno.test("A version has only one lease", async () => {
  await withDatabase(async (db) => {
    const first = await WriteLease.begin(db, PLACE, "v1", 1);
    await assertRejects(() => WriteLease.begin(db, PLACE, "v1", 1), StoreUnavailable);
    assertEquals(await first.holds(), true);
    first.end();
  });
});

/** Advances the clock in steps, as a running process sees it, and sweeps after each step. */
async function sweepFor(
  collector: GarbageCollector,
  forward: (ms: number) => void,
  time: number,
  each: () => Promise<void> = () => Promise.resolve(),
): Promise<void> {
  for (let passed = 0; passed < time; passed += SWEEP_INTERVAL) {
    forward(SWEEP_INTERVAL);
    await each();
    await collector.run();
  }
}

/** Returns the garbage collector of another process, which does not know what this one is writing. */
function collectorElsewhere(db: Database): GarbageCollector {
  return new GarbageCollector(
    new Database(db.reader, db.commits, sharedParts(db)),
    new OpenVersions(db),
    enders(),
  );
}

Deno.test("In its own process a lease is valid while its bytes are written, even without renewals", async () => {
  await withDatabase(async (db) => {
    await withClock(async (forward) => {
      const lease = await WriteLease.begin(db, PLACE, "v1", 1);
      await sweepFor(
        new GarbageCollector(db, new OpenVersions(db), enders()),
        forward,
        10 * WRITE_LEASE_TIME,
      );
      assertEquals(await lease.holds(), true);
      assertEquals((await db.commit(lease.addCheck(new Operation()))).ok, true);
      lease.end();
    });
  });
});

Deno.test("Another process respects a renewed lease, with any difference of the clocks", async () => {
  await withDatabase(async (db) => {
    await withClock(async (forward, set) => {
      const lease = await WriteLease.begin(db, PLACE, "v1", 1);
      const other = collectorElsewhere(db);
      let sinceRenewal = 0;
      const renew = async () => {
        sinceRenewal += SWEEP_INTERVAL;
        if (sinceRenewal < LEASE_RENEWAL) return;
        sinceRenewal = 0;
        await lease.renew();
      };
      await other.run();
      for (const jump of [0, HOUR, -2 * HOUR, HOUR, 100 * HOUR, -100 * HOUR]) {
        set(jump);
        await sweepFor(other, forward, 3 * WRITE_LEASE_TIME, renew);
        assertEquals(await lease.holds(), true, `The clock was set by ${jump} ms`);
      }
      lease.end();
    });
  });
});

Deno.test("Another process takes the bytes of an unrenewed lease, with any difference of the clocks", async () => {
  for (const jump of [0, HOUR, -HOUR]) {
    await withDatabase(async (db) => {
      await withClock(async (forward, set) => {
        const lease = await WriteLease.begin(db, PLACE, "v1", 1);
        lease.end();
        const other = collectorElsewhere(db);
        await other.run();
        set(jump);
        await sweepFor(other, forward, WRITE_LEASE_TIME - 1 - SWEEP_INTERVAL);
        assertEquals(await lease.holds(), true, `The clock was set by ${jump} ms`);
        await sweepFor(other, forward, 2 * SWEEP_INTERVAL);
        assertEquals(await lease.holds(), false, `The clock was set by ${jump} ms`);
      });
    });
  }
});

Deno.test("A suspended process does not count that time against a lease", async () => {
  await withDatabase(async (db) => {
    await withClock(async (forward) => {
      const lease = await WriteLease.begin(db, PLACE, "v1", 1);
      const other = collectorElsewhere(db);
      await other.run();
      forward(10 * WRITE_LEASE_TIME);
      await other.run();
      assertEquals(await lease.holds(), true);
      lease.end();
    });
  });
});

Deno.test("A process that rarely runs takes the bytes of a lease that expired long ago", async () => {
  await withDatabase(async (db) => {
    await withClock(async (forward) => {
      const lease = await WriteLease.begin(db, PLACE, "v1", 1);
      lease.end();
      forward(HOUR);
      await collectorElsewhere(db).run();
      assertEquals(await lease.holds(), true);
      forward(25 * HOUR);
      await collectorElsewhere(db).run();
      assertEquals(await lease.holds(), false);
    });
  });
});

Deno.test("A lease is renewed by a timer until it ends", async () => {
  using time = new FakeIntervals();
  await withDatabase(async (db) => {
    await withClock(async (forward) => {
      const lease = await WriteLease.begin(db, PLACE, "v1", 1);
      for (let i = 0; i < 3; i++) {
        forward(LEASE_RENEWAL);
        const renewed = Date.now() + WRITE_LEASE_TIME;
        time.pass();
        while ((await journal(db))[1] !== renewed);
      }
      lease.end();
      assertEquals(time.running, 0);
    });
  });
});

Deno.test("Renewing a lease does not conflict with commits", async () => {
  await withDatabase(async (db) => {
    const lease = await WriteLease.begin(db, PLACE, "v1", 1);
    const earlier = lease.addCheck(new Operation()).set(["a"], 1);
    await lease.renew();
    assertEquals((await db.commit(earlier)).ok, true);
    lease.end();
  });
});

Deno.test("A sweep takes the bytes of an expired lease, which is useless afterwards", async () => {
  await withDatabase(async (db) => {
    await withClock(async (forward) => {
      const lease = await WriteLease.begin(db, PLACE, "v1", 2);
      await db.commit(new Operation().set(keys.chunk("v1", 1), new Uint8Array(1)));
      await sweepFor(collectorElsewhere(db), forward, WRITE_LEASE_TIME + SWEEP_INTERVAL);
      assertEquals([await lease.holds(), await journal(db)], [false, [null, null]]);
      assertEquals((await db.reader.get(keys.chunk("v1", 1))).value, null);
      for (const add of [lease.addCheck, lease.settle]) {
        const operation = add.call(lease, new Operation()).set(["published"], 1);
        assertEquals((await db.commit(operation)).ok, false);
      }
      await lease.renew();
      assertEquals(await journal(db), [null, null]);
      await lease.abandon();
      assertEquals(await garbage(db), []);
      assertEquals((await db.reader.get(["published"])).value, null);
    });
  });
});

Deno.test("A settled lease is over, and its bytes are not garbage", async () => {
  await withDatabase(async (db) => {
    const lease = await WriteLease.begin(db, PLACE, "v1", 1);
    assertEquals((await db.commit(lease.settle(new Operation()))).ok, true);
    assertEquals([await journal(db), await garbage(db)], [[null, null], []]);
    assertEquals(await lease.holds(), false);
    assertEquals((await db.commit(lease.settle(new Operation()))).ok, false);
    await lease.abandon();
    assertEquals(await garbage(db), []);
  });
});

Deno.test("An abandoned lease makes its bytes garbage at once", async () => {
  await withDatabase(async (db) => {
    const lease = await WriteLease.begin(db, PLACE, "v1", 160);
    await lease.abandon();
    assertEquals(await journal(db), [null, null]);
    assertEquals(await garbage(db), [
      { kind: "chunks", ...PLACE, version: "v1", chunks: 160 },
    ]);
    await lease.abandon();
    assertEquals((await garbage(db)).length, 1);
  });
});

/** How long after a renewal a writer may begin commits in a store in two files: what remains is for the commit. */
const WRITING_TIME = WRITE_LEASE_TIME - LEASE_RENEWAL;

const CHUNK = new Uint8Array(10);

/** Runs a test with a store in two files and stopped clocks. */
async function withStore(
  test: (db: Database, forward: (ms: number) => void) => Promise<void>,
): Promise<void> {
  await withFolder(async (folder) => {
    const db = await openDatabase(folder);
    try {
      await withClock((forward) => test(db, forward));
    } finally {
      await db.close();
    }
  });
}

Deno.test("In a store in two files no commit of chunks begins when the last renewal was too long ago", async () => {
  await withStore(async (db, forward) => {
    const lease = await WriteLease.begin(db, PLACE, "v1", 1);
    forward(WRITING_TIME);
    lease.beginChunks();
    forward(1);
    assertThrows(() => lease.beginChunks(), StoreUnavailable, "expired");
    await lease.renew();
    lease.beginChunks();
    lease.end();
  });
});

Deno.test("A renewal counts from its begin, and not if it fails", async () => {
  await withStore(async (db, forward) => {
    const { commit } = db;
    db.commit = (operation) => {
      forward(LEASE_RENEWAL);
      return commit.call(db, operation);
    };
    const lease = await WriteLease.begin(db, PLACE, "v1", 1);
    forward(WRITING_TIME - LEASE_RENEWAL);
    lease.beginChunks();
    forward(1);
    assertThrows(() => lease.beginChunks(), StoreUnavailable, "expired");
    await lease.renew();
    forward(WRITING_TIME - LEASE_RENEWAL);
    lease.beginChunks();
    db.commit = () => Promise.reject(new StoreUnavailable("The store is unreachable"));
    await assertRejects(() => lease.renew(), StoreUnavailable);
    forward(1);
    assertThrows(() => lease.beginChunks(), StoreUnavailable, "expired");
    lease.end();
  });
});

Deno.test("A writer that was stopped for too long writes nothing more and fails", async () => {
  await withStore(async (db, forward) => {
    const writer = new ChunkWriter(db, PLACE, "v1", 160);
    await writer.write(CHUNK.slice());
    await until(() => db.writing.has("v1"));
    forward(WRITING_TIME + 1);
    await assertRejects(() => writer.finish("A".repeat(43) + "="), StoreUnavailable, "expired");
    assertEquals(await countEntries({ db }, ["chunk"]), 0);
    await writer.abandon();
  });
});

testOnAll("Bytes that are written after they were taken away do not stay", async (bench) => {
  const { db } = bench;
  await withClock(async (forward) => {
    const lease = await WriteLease.begin(db, PLACE, "v1", 2);
    const early = lease.beginChunks().set(keys.chunk("v1", 0), CHUNK);
    assertEquals((await db.commitBytes(early)).ok, true);
    // The process is stopped with a commit in flight.
    const late = lease.beginChunks().set(keys.chunk("v1", 1), CHUNK);
    const other = collectorElsewhere(db);
    await sweepFor(other, forward, WRITE_LEASE_TIME + SWEEP_INTERVAL);
    assertEquals([await lease.holds(), await countEntries(bench, ["chunk"])], [false, 0]);
    assertEquals((await db.commitBytes(late)).ok, db.bytes.isSeparate);
    assertEquals((await db.commit(lease.settle(new Operation()))).ok, false);
    await lease.abandon();
    await sweepFor(other, forward, 2 * SWEEP_INTERVAL);
    const left = db.bytes.isSeparate ? 1 : 0;
    for (const kind of ["chunk", "garbage"]) {
      assertEquals(await countEntries(bench, [kind]), left, kind);
    }
    forward(LATE_WRITE_TIME);
    await other.run();
    await assertKeys(bench, {});
  });
});

Deno.test("A slow writer keeps its bytes, however often another process sweeps", async () => {
  using time = new FakeIntervals();
  await withStore(async (db, forward) => {
    const lease = await WriteLease.begin(db, PLACE, "v1", 160);
    const other = collectorElsewhere(db);
    let sinceRenewal = 0;
    let written = 0;
    const write = async () => {
      sinceRenewal += SWEEP_INTERVAL;
      if (sinceRenewal >= LEASE_RENEWAL) {
        sinceRenewal = 0;
        const stamp = async () => (await db.reader.get(keys.lease("v1"))).versionstamp;
        const before = await stamp();
        time.pass();
        await until(async () => await stamp() !== before);
      }
      const operation = lease.beginChunks().set(keys.chunk("v1", written++), CHUNK);
      assertEquals((await db.commitBytes(operation)).ok, true);
    };
    await sweepFor(other, forward, 10 * WRITE_LEASE_TIME, write);
    assertEquals((await db.commit(lease.settle(new Operation()))).ok, true);
    lease.end();
    forward(2 * LATE_WRITE_TIME);
    await other.run();
    assertEquals(await countEntries({ db }, ["chunk"]), written);
  });
});

import { assert, assertEquals, assertRejects } from "@std/assert";
import { WRITE_LEASE } from "../drive/limits.ts";
import { type Database, openMemoryDatabase } from "./database.ts";
import { StoreUnavailable } from "./errors.ts";
import { keys, ranges } from "./keys.ts";
import { Operation } from "./operation.ts";
import { Readers } from "./readers.ts";
import type { Garbage, PendingWrite, Place } from "./records.ts";
import { Sweeper } from "./sweeper.ts";
import { WriteLease } from "./write_lease.ts";
import { withClock } from "./test_support.ts";

const PLACE: Place = { project: "p", drive: "d", name: "a.txt" };

async function withDatabase(test: (db: Database) => Promise<void>): Promise<void> {
  const db = await openMemoryDatabase();
  try {
    await test(db);
  } finally {
    await db.close();
  }
}

/** The journal entry of a version, and until when its lease holds. */
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

async function sweep(db: Database): Promise<void> {
  await new Sweeper(db, new Readers(), () => {}, () => Promise.resolve(true)).sweep();
}

Deno.test("A lease journals what will be written, and where", async () => {
  await withDatabase(async (db) => {
    const before = Date.now();
    const lease = await WriteLease.begin(db, PLACE, "v1", 160);
    const [entry, until] = await journal(db);
    assertEquals(entry, { ...PLACE, version: "v1", chunks: 160 });
    assert(until !== null && until >= before + WRITE_LEASE);
    assertEquals(await lease.holds(), true);
  });
});

Deno.test("Two leases on one version cannot be", async () => {
  await withDatabase(async (db) => {
    const first = await WriteLease.begin(db, PLACE, "v1", 1);
    await assertRejects(() => WriteLease.begin(db, PLACE, "v1", 1), StoreUnavailable);
    assertEquals(await first.holds(), true);
  });
});

Deno.test("A lease is renewed where half of it is over, and holds for its whole time again", async () => {
  await withDatabase(async (db) => {
    await withClock(async (forward) => {
      const lease = await WriteLease.begin(db, PLACE, "v1", 1);
      const [, first] = await journal(db);
      forward(WRITE_LEASE / 2 - 1);
      await lease.keep();
      assertEquals((await journal(db))[1], first);
      forward(1);
      await lease.keep();
      assertEquals((await journal(db))[1], Date.now() + WRITE_LEASE);
      forward(WRITE_LEASE);
      await sweep(db);
      assertEquals(await lease.holds(), true);
      assertEquals((await db.commit(lease.demand(new Operation()))).ok, true);
    });
  });
});

Deno.test("Renewing a lease is in no commit's way", async () => {
  await withDatabase(async (db) => {
    await withClock(async (forward) => {
      const lease = await WriteLease.begin(db, PLACE, "v1", 1);
      const earlier = lease.demand(new Operation()).set(["a"], 1);
      forward(WRITE_LEASE - 1);
      await lease.keep();
      assertEquals((await db.commit(earlier)).ok, true);
    });
  });
});

Deno.test("A lease whose time is over holds on where no sweep has come", async () => {
  await withDatabase(async (db) => {
    await withClock(async (forward) => {
      const lease = await WriteLease.begin(db, PLACE, "v1", 1);
      forward(10 * WRITE_LEASE);
      await lease.keep();
      await sweep(db);
      assertEquals(await lease.holds(), true);
    });
  });
});

Deno.test("A sweep takes the bytes of a lease whose time is over, and nothing can be done with it", async () => {
  await withDatabase(async (db) => {
    await withClock(async (forward) => {
      const lease = await WriteLease.begin(db, PLACE, "v1", 2);
      await db.commit(new Operation().set(keys.chunk(PLACE, "v1", 1), new Uint8Array(1)));
      forward(WRITE_LEASE + 1);
      await sweep(db);
      assertEquals([await lease.holds(), await journal(db)], [false, [null, null]]);
      assertEquals((await db.reader.get(keys.chunk(PLACE, "v1", 1))).value, null);
      for (const add of [lease.demand, lease.settle]) {
        const operation = add.call(lease, new Operation()).set(["published"], 1);
        assertEquals((await db.commit(operation)).ok, false);
      }
      await assertRejects(() => lease.keep(), StoreUnavailable);
      await lease.abandon();
      assertEquals(await garbage(db), []);
      assertEquals((await db.reader.get(["published"])).value, null);
    });
  });
});

Deno.test("A lease that is settled is over, and its bytes are no garbage", async () => {
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

Deno.test("A lease that is abandoned gives its bytes to the sweeper at once", async () => {
  await withDatabase(async (db) => {
    const lease = await WriteLease.begin(db, PLACE, "v1", 160);
    await lease.abandon();
    assertEquals(await journal(db), [null, null]);
    assertEquals(await garbage(db), [
      { kind: "chunks", ...PLACE, version: "v1", chunks: 160, file: "v1" },
    ]);
    await lease.abandon();
    assertEquals((await garbage(db)).length, 1);
  });
});

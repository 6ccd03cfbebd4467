import { assert, assertEquals, assertRejects } from "@std/assert";
import { QuotaExceeded, TooManyOpenUploads } from "../engine/errors.ts";
import { keys } from "../engine/keys.ts";
import { Operation } from "../engine/operation.ts";
import { type CachedProject, ProjectCache } from "../engine/project_cache.ts";
import { CHUNK_SIZE } from "../engine/records.ts";
import { DEFAULT_UPLOAD_TTL, Store } from "../store.ts";
import { bytes, DRIVE, inPieces, place } from "../testing/bodies.ts";
import { assertSums, countReads } from "../testing/entries.ts";
import { assertQuotaExceeded, put, setQuota, usedBytes } from "../testing/files.ts";
import { otherProcess, testOnAll, type TestStore } from "../testing/stores.ts";
import { Quotas } from "./quotas.ts";
import { addUsage } from "./usage.ts";

const { project } = DRIVE;

/** Returns an operation that adds bytes to a drive. */
function growth({ unchanged }: CachedProject, more: number): Operation {
  const operation = new Operation().share(unchanged);
  addUsage(operation, DRIVE, "bytes", more);
  return operation;
}

testOnAll("A failed check takes precedence over the quota", async (bench) => {
  const { db } = bench;
  await setQuota(bench, 1000);
  const quotas = new Quotas(db);
  const known = await new ProjectCache(db).requireWritable(DRIVE);
  const outcomes = await Promise.all([10, 2000, 20, 30].map((more, i) => {
    const operation = growth(known, more)
      .check(["test", i], i < 2 ? "00000000000000010000" : null);
    return quotas.commit(known, DRIVE, operation);
  }));
  assertEquals(outcomes.map(({ ok }) => ok), [false, false, true, true]);
  assertEquals(await usedBytes(bench), 50);
  // What was refused holds nothing any more.
  assertEquals((await quotas.commit(known, DRIVE, growth(known, 950))).ok, true);
});

testOnAll("Concurrent growth is admitted to the last byte", async (bench) => {
  await setQuota(bench, 1000);
  const quotas = new Quotas(bench.db);
  const known = await new ProjectCache(bench.db).requireWritable(DRIVE);
  const change = (more: number) => quotas.commit(known, DRIVE, growth(known, more));
  for (let round = 0; round < 5; round++) {
    await Promise.all(Array.from({ length: 100 }, () => change(10)));
    await assertRejects(() => change(1), QuotaExceeded);
    await change(-500);
    await Promise.all([change(-500), change(100)]);
    await change(-100);
  }
  assertEquals(await usedBytes(bench), 0);
});

testOnAll("A commit that fails gives its room back", async (bench) => {
  const { db } = bench;
  await setQuota(bench, 1000);
  const quotas = new Quotas(db);
  const known = await new ProjectCache(db).requireWritable(DRIVE);
  const tooLarge = growth(known, 1000).set(["test"], new Uint8Array(CHUNK_SIZE + 1));
  await assertRejects(() => quotas.commit(known, DRIVE, tooLarge));
  await quotas.commit(known, DRIVE, growth(known, 1000));
  assertEquals(await usedBytes(bench), 1000);
});

testOnAll("A process sees what others have written and deleted", async (bench) => {
  const other = otherProcess(bench);
  await setQuota(bench, 1000);
  await put(bench, "a", bytes(400));
  await put(other, "b", bytes(500));
  await assertQuotaExceeded(put(bench, "c", bytes(101)));
  await put(bench, "c", bytes(100));
  await other.store.files.delete(place("b"));
  await put(bench, "d", bytes(500));
  await assertQuotaExceeded(put(other, "e", bytes(1)));
  await setQuota(other, null);
  await put(other, "e", bytes(1000));
  await setQuota(other, 2100);
  await assertQuotaExceeded(put(bench, "f", bytes(101)));
  await put(bench, "f", bytes(100));
  assertEquals(await usedBytes(bench), 2100);
});

testOnAll("Running uploads reserve room from each other until they end", async (bench) => {
  const { db } = bench;
  await setQuota(bench, 10 * CHUNK_SIZE);
  const known = await new ProjectCache(db).requireWritable(DRIVE);
  const quotas = new Quotas(db);
  const reserve = (size?: number) => quotas.reserve(known, DRIVE, keys.file(place("new")), size);
  {
    using _first = await reserve(6 * CHUNK_SIZE);
    await assertQuotaExceeded(reserve(6 * CHUNK_SIZE));
    await assertRejects(() => quotas.commit(known, DRIVE, growth(known, 5 * CHUNK_SIZE)));
    using _second = await reserve(4 * CHUNK_SIZE);
  }
  using _third = await reserve(10 * CHUNK_SIZE);
});

testOnAll("What is reserved for a body is there for its commit, without a read", async (bench) => {
  const { db } = bench;
  await setQuota(bench, 1000);
  const known = await new ProjectCache(db).requireWritable(DRIVE);
  const quotas = new Quotas(db);
  // Three, so that the count is the same on the store that loses every third answer.
  const rooms = await Promise.all(Array.from({ length: 3 }, () => {
    return quotas.reserve(known, DRIVE, keys.file(place("new")), 200);
  }));
  await assertRejects(() => quotas.commit(known, DRIVE, growth(known, 401)), QuotaExceeded);
  const reads = await countReads(bench, async () => {
    for (const room of rooms) await quotas.commit(known, DRIVE, growth(known, 200), room);
  });
  assertEquals(
    reads,
    await countReads(bench, async () => {
      for (let i = 0; i < rooms.length; i++) await db.commit(growth(known, 0).set(["test"], i));
    }),
  );
  for (const room of rooms) room?.[Symbol.dispose]();
  await quotas.commit(known, DRIVE, growth(known, 400));
  assertEquals((await bench.store.usageOf(project)).bytes, 1000);
});

testOnAll("What is committed while the usage is read is not counted twice", async (bench) => {
  const { db } = bench;
  await setQuota(bench, 1000);
  const known = await new ProjectCache(db).requireWritable(DRIVE);
  const quotas = new Quotas(db);
  const reserve = () => quotas.reserve(known, DRIVE, keys.file(place("new")), 300);
  const commits = [await reserve(), await reserve()].map((room) => () => {
    return quotas.commit(known, DRIVE, growth(known, 300), room);
  });
  const get = db.reads.get.bind(db.reads);
  db.reads.get = async (wanted) => {
    if (wanted[0]?.[0] === "project_usage") await commits.shift()?.();
    return await get(wanted);
  };
  // Each of the first two attempts to make room reads a usage with bytes that are still reserved.
  assertEquals((await quotas.commit(known, DRIVE, growth(known, 400))).ok, true);
  assertEquals([commits.length, await usedBytes(bench)], [0, 1000]);
});

testOnAll("A body of unknown size is refused as soon as it exceeds the quota", async (bench) => {
  const { db } = bench;
  await setQuota(bench, 3 * CHUNK_SIZE);
  const known = await new ProjectCache(db).requireWritable(DRIVE);
  using room = await new Quotas(db).reserve(known, DRIVE, keys.file(place("new")), undefined);
  let received = 0;
  const receive = async () => {
    assert(room !== undefined);
    for await (const piece of room.track(inPieces(bytes(9 * CHUNK_SIZE), CHUNK_SIZE))) {
      received += piece.byteLength;
    }
  };
  await assertQuotaExceeded(receive());
  assertEquals(received, 3 * CHUNK_SIZE);
});

/** Another process on the same store, with a limit of open uploads. */
function limited({ db }: TestStore, maxOpenUploads: number): TestStore {
  const onError = (error: unknown) => {
    throw error;
  };
  return { db, store: new Store(db, { onError, maxOpenUploads }) };
}

function start({ store }: TestStore): Promise<string> {
  return store.uploads.start(place("a"), undefined);
}

/** Starts uploads at once. Returns the ids of those that were started; the others exceeded the limit. */
async function startAll(benches: readonly TestStore[], count: number): Promise<string[]> {
  const outcomes = await Promise.allSettled(Array.from({ length: count }, (_, i) => {
    const bench = benches[i % benches.length];
    assert(bench !== undefined);
    return start(bench);
  }));
  for (const outcome of outcomes) {
    const isRefused = outcome.status === "rejected" && outcome.reason instanceof TooManyOpenUploads;
    if (outcome.status === "rejected" && !isRefused) throw outcome.reason;
  }
  return outcomes.flatMap((outcome) => outcome.status === "fulfilled" ? [outcome.value] : []);
}

testOnAll("A project can have as many uploads open as the limit and no more", async (bench) => {
  const few = limited(bench, 3);
  const [first = ""] = await startAll([few], 3);
  const { message } = await assertRejects(() => start(few), TooManyOpenUploads);
  assertEquals(
    message,
    "The project has 3 uploads open, and no more are allowed: " +
      "complete or abort one of them, then start this one again",
  );
  await few.store.uploads.abort(place("a"), first);
  const second = await start(few);
  await assertRejects(() => start(few), TooManyOpenUploads);
  await few.store.uploads.complete(place("a"), second, () => true);
  await few.store.uploads.complete(place("a"), second, () => true);
  await start(few);
  await assertRejects(() => start(few), TooManyOpenUploads);
  await few.store.sweeper.sweep(Date.now() + DEFAULT_UPLOAD_TTL + 1);
  assertEquals((await startAll([few], 10)).length, 3);
});

testOnAll(
  "Processes exceed the limit of open uploads by what they start at once",
  async (bench) => {
    const benches = [limited(bench, 50), limited(bench, 50), limited(bench, 50)];
    const ids = await startAll(benches, 120);
    assert(ids.length >= 50 && ids.length <= 120, `${ids.length} were started`);
    assertEquals(await startAll(benches, 30), []);
    const [one = bench, other = bench] = benches;
    await Promise.all(ids.map((id, i) => {
      const { uploads } = (i % 2 ? one : other).store;
      return i % 3 ? uploads.abort(place("a"), id) : uploads.complete(place("a"), id, () => true);
    }));
    assertEquals((await bench.store.usageOf(project)).openUploads, 0);
    await assertSums(bench);
  },
);

testOnAll("Concurrent aborts of one upload count once", async (bench) => {
  const [one, other] = [limited(bench, 2), limited(bench, 2)];
  const id = await start(one);
  await start(one);
  await Promise.allSettled(Array.from({ length: 6 }, (_, i) => {
    return (i % 2 ? one : other).store.uploads.abort(place("a"), id);
  }));
  assertEquals((await startAll([one], 4)).length, 1);
  await assertSums(bench);
});

testOnAll("A lower limit holds once the uploads beyond it have ended", async (bench) => {
  const ids = await startAll([limited(bench, 8)], 8);
  const fewer = limited(bench, 4);
  for (const id of ids.slice(0, 4)) {
    await assertRejects(() => start(fewer), TooManyOpenUploads);
    await fewer.store.uploads.abort(place("a"), id);
  }
  await assertRejects(() => start(fewer), TooManyOpenUploads);
  await fewer.store.uploads.abort(place("a"), ids[4] ?? "");
  assertEquals((await startAll([fewer], 5)).length, 1);
});

testOnAll("The open uploads of a deleted drive or project no longer count", async (bench) => {
  const few = limited(bench, 2);
  await startAll([few], 2);
  const elsewhere = { ...place("a"), drive: "other" };
  await assertRejects(() => few.store.uploads.start(elsewhere, undefined), TooManyOpenUploads);
  await few.store.projects.deleteDrive(project, "d");
  await few.store.sweeper.sweep();
  assertEquals((await startAll([few], 3)).length, 2);
  await few.store.projects.delete(project);
  await few.store.sweeper.sweep();
  await few.store.projects.create(project, undefined);
  assertEquals((await startAll([few], 3)).length, 2);
});

import { assertEquals, assertRejects } from "@std/assert";
import { type Commit, embeddedCommits, type Outcome } from "../engine/commits.ts";
import { Database } from "../engine/database.ts";
import { QuotaExceeded } from "../engine/errors.ts";
import { keys } from "../engine/keys.ts";
import { Operation } from "../engine/operation.ts";
import { ProjectCache } from "../engine/project_cache.ts";
import { CHUNK_SIZE } from "../engine/records.ts";
import { bytes, DRIVE, inPieces, place } from "../testing/bodies.ts";
import { countReads, setEntry } from "../testing/entries.ts";
import { put } from "../testing/files.ts";
import { assertQuotaExceeded, setQuota, usedBytes } from "../testing/quotas.ts";
import { otherProcess, testOnAll, type TestStore } from "../testing/stores.ts";
import { readQuotaAccount } from "./quota_account.ts";
import { Quotas } from "./quotas.ts";

const { project } = DRIVE;

testOnAll("A change that cannot be committed does not make others fail", async ({ db, store }) => {
  await store.projects.update(project, { maxBytes: 1000 });
  const quotas = new Quotas(db);
  const known = await new ProjectCache(db).requireWritable(DRIVE);
  const outcomes = await Promise.allSettled(Array.from({ length: 9 }, (_, i) => {
    const operation = new Operation().share(known.unchanged)
      .set(["test", i], new Uint8Array(i === 4 ? CHUNK_SIZE + 1 : 1))
      .sum(keys.usage(project, "d", "bytes"), 100);
    return quotas.commit(known, DRIVE, operation, { more: 100 });
  }));
  const failed = outcomes.flatMap(({ status }, i) => status === "rejected" ? [i] : []);
  assertEquals(failed, [4]);
  assertEquals((await readQuotaAccount(db, project))?.used, 800);
});

testOnAll(
  "A failed check takes precedence over the quota",
  async ({ db, store }) => {
    await store.projects.update(project, { maxBytes: 1000 });
    const quotas = new Quotas(db);
    const known = await new ProjectCache(db).requireWritable(DRIVE);
    const outcomes = await Promise.all([10, 2000, 20, 30].map((more, i) => {
      const operation = new Operation().share(known.unchanged)
        .check(["test", i], i < 2 ? "00000000000000010000" : null)
        .sum(keys.usage(project, "d", "bytes"), more);
      return quotas.commit(known, DRIVE, operation, { more });
    }));
    assertEquals(outcomes.map(({ ok }) => ok), [false, false, true, true]);
    assertEquals((await readQuotaAccount(db, project))?.used, 50);
  },
);

testOnAll("Changes that free bytes make room for waiting changes", async ({ db, store }) => {
  await store.projects.update(project, { maxBytes: 1000 });
  const quotas = new Quotas(db);
  const known = await new ProjectCache(db).requireWritable(DRIVE);
  const change = (more: number) => {
    const operation = new Operation().share(known.unchanged)
      .sum(keys.usage(project, "d", "bytes"), more);
    return quotas.commit(known, DRIVE, operation, { more });
  };
  await change(900);
  await Promise.all([change(-500), change(100)]);
  await change(500);
  await assertRejects(() => change(1), QuotaExceeded);
  await change(-1000);
  await Promise.all(Array.from({ length: 100 }, () => change(10)));
  await assertRejects(() => change(1), QuotaExceeded);
  assertEquals((await readQuotaAccount(db, project))?.used, 1000);
});

testOnAll("A sum that another process has changed does not refuse a change", async (bench) => {
  const { db, store } = bench;
  await setQuota(bench, 1000);
  await put(bench, "big", bytes(900));
  const known = await new ProjectCache(db).requireWritable(DRIVE);
  const quotas = new Quotas(db);
  const get = db.reads.get.bind(db.reads);
  let isFirst = true;
  const deleteAfterFirst = async (...args: Parameters<typeof get>) => {
    const found = await get(...args);
    if (isFirst) {
      isFirst = false;
      await store.files.delete(place("big"));
    }
    return found;
  };
  Object.assign(db.reads, { get: deleteAfterFirst });
  const operation = new Operation().share(known.unchanged)
    .sum(keys.usage(project, "d", "bytes"), 500);
  assertEquals((await quotas.commit(known, DRIVE, operation, { more: 500 })).ok, true);
  assertEquals((await readQuotaAccount(db, project))?.used, 500);
});

/** Makes every sum that a store reads outdated at once, as another process does that writes without a pause. */
function outdateReads({ db }: TestStore): void {
  const get = db.reads.get.bind(db.reads);
  const outdated = async (...args: Parameters<typeof get>) => {
    const found = await get(...args);
    await setEntry(db, keys.quota(project), { bytes: 10 });
    return found;
  };
  Object.assign(db.reads, { get: outdated });
}

testOnAll("Refusals are found while another process writes without a pause", async (bench) => {
  const { db } = bench;
  await setQuota(bench, 1000);
  await put(bench, "a", bytes(10));
  const known = await new ProjectCache(db).requireWritable(DRIVE);
  const quotas = new Quotas(db);
  outdateReads(bench);
  const change = (more: number, version: string | null) =>
    quotas.commit(known, DRIVE, new Operation().share(known.unchanged).check(["test"], version), {
      more,
    });
  assertEquals(await change(1, "00000000000000010000"), { ok: false });
  const error = await assertRejects(() => change(991, null), QuotaExceeded);
  assertEquals(error.numbers.used, 10);
});

testOnAll("A process whose write was the last does not read the sum again", async (bench) => {
  const { db } = bench;
  await setQuota(bench, 1000);
  const known = await new ProjectCache(db).requireWritable(DRIVE);
  const quotas = new Quotas(db);
  // Three at a time, so that the count is the same on the store that loses every third answer.
  const writes = async (commit: (operation: Operation) => Promise<Outcome>) => {
    for (let i = 0; i < 3; i++) {
      const operation = new Operation().share(known.unchanged)
        .sum(keys.usage(project, "d", "bytes"), 10);
      assertEquals((await commit(operation)).ok, true);
    }
  };
  const withQuota = () =>
    writes((operation) => quotas.commit(known, DRIVE, operation, { more: 10 }));
  await withQuota();
  const reads = await countReads(bench, withQuota);
  assertEquals((await readQuotaAccount(db, project))?.used, 60);
  assertEquals(reads, await countReads(bench, () => writes((operation) => db.commit(operation))));
});

testOnAll(
  "A remembered sum that is out of date admits and refuses nothing wrongly",
  async (bench) => {
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
  },
);

Deno.test("The next group is committed before the answers to the last one are given", async () => {
  const kv = await Deno.openKv(":memory:");
  const events: string[] = [];
  const commits = embeddedCommits(kv);
  const started = Promise.withResolvers<void>();
  const bothWait = Promise.withResolvers<void>();
  const once: Commit = async (operation) => {
    events.push("commit");
    started.resolve();
    await bothWait.promise;
    return await commits.once(operation);
  };
  const db = new Database(kv, { ...commits, once }, { resources: kv });
  try {
    await kv.set(keys.project(project), { created: Date.now(), maxBytes: 1000 });
    const known = await new ProjectCache(db).requireWritable(DRIVE);
    const quotas = new Quotas(db);
    const change = async (name: string) => {
      const operation = new Operation().share(known.unchanged)
        .sum(keys.usage(project, "d", "bytes"), 10);
      assertEquals((await quotas.commit(known, DRIVE, operation, { more: 10 })).ok, true);
      events.push(name);
    };
    const first = change("first");
    await started.promise;
    const second = change("second");
    bothWait.resolve();
    await Promise.all([first, second]);
    assertEquals(events, ["commit", "commit", "first", "second"]);
    assertEquals((await readQuotaAccount(db, project))?.used, 20);
  } finally {
    await db.close();
  }
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
    using _second = await reserve(4 * CHUNK_SIZE);
  }
  using _third = await reserve(10 * CHUNK_SIZE);
});

testOnAll("A body of unknown size is refused as soon as it exceeds the quota", async (bench) => {
  const { db } = bench;
  await setQuota(bench, 3 * CHUNK_SIZE);
  const known = await new ProjectCache(db).requireWritable(DRIVE);
  const key = keys.file(place("new"));
  using reservation = await new Quotas(db).reserve(known, DRIVE, key, undefined);
  let received = 0;
  const receive = async () => {
    for await (const piece of reservation.track(inPieces(bytes(9 * CHUNK_SIZE), CHUNK_SIZE))) {
      received += piece.byteLength;
    }
  };
  await assertQuotaExceeded(receive());
  assertEquals(received, 3 * CHUNK_SIZE);
});

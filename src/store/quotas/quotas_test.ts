import { assert, assertEquals } from "@std/assert";
import { openDatabase } from "../engine/database_file.ts";
import { QuotaExceeded } from "../engine/errors.ts";
import { CHUNK_SIZE } from "../engine/records.ts";
import { Store } from "../store.ts";
import { bytes, DRIVE, place } from "../testing/bodies.ts";
import { assertSums, countEntries, countReads } from "../testing/entries.ts";
import {
  assertQuotaExceeded,
  put,
  putAt,
  setQuota,
  sumOf,
  usedBytes,
  usedNow,
} from "../testing/files.ts";
import { otherProcess, sweepLater, testOnAll, type TestStore } from "../testing/stores.ts";
import { NO_PROJECT_USAGE } from "./usage.ts";

const { project } = DRIVE;

/** Writes files of some sizes at the same time. Returns the sizes that were stored; the others exceeded the quota. */
async function putAll(
  benches: readonly TestStore[],
  sizes: readonly number[],
  nameOf = (i: number) => `${i}`,
): Promise<number[]> {
  const outcomes = await Promise.allSettled(sizes.map((size, i) => {
    const bench = benches[i % benches.length];
    assert(bench !== undefined);
    return put(bench, nameOf(i), bytes(size));
  }));
  const taken: number[] = [];
  for (const [i, outcome] of outcomes.entries()) {
    if (outcome.status === "fulfilled") taken.push(sizes[i] ?? 0);
    else if (!(outcome.reason instanceof QuotaExceeded)) throw outcome.reason;
  }
  return taken;
}

testOnAll("A project can use its whole quota and not a byte more", async (bench) => {
  await setQuota(bench, 1000);
  await put(bench, "a", bytes(900));
  const { message, numbers } = await assertQuotaExceeded(put(bench, "b", bytes(101)));
  assertEquals(numbers, { resource: "bytes", used: 900, limit: 1000, more: 101 });
  assertEquals(
    message,
    "The project has 900 B of its 1.0 kB in use and cannot take 101 B more " +
      "(900 of 1000 bytes, 101 more): " +
      "delete files, empty the trash, abort open uploads or ask the administrator for more; nothing was stored",
  );
  assertEquals(await bench.store.files.reader.stat(place("b")), undefined);
  await put(bench, "b", bytes(100));
  await put(bench, "empty", bytes(0));
  assertEquals(await usedBytes(bench), 1000);
  await assertQuotaExceeded(put(bench, "c", bytes(1)));
});

testOnAll("A file that is replaced makes room for the new one", async (bench) => {
  await setQuota(bench, 1000);
  await put(bench, "a", bytes(600));
  await put(bench, "a", bytes(1000));
  assertEquals((await assertQuotaExceeded(put(bench, "a", bytes(1001)))).numbers.more, 1);
  await put(bench, "a", bytes(1000, 2));
  await put(bench, "a", bytes(10));
  await put(bench, "b", bytes(990));
  assertEquals(await bench.store.files.delete(place("b")), true);
  assertEquals(await bench.store.files.delete(place("b")), false);
  await put(bench, "c", bytes(990));
  assertEquals(await usedBytes(bench), 1000);
});

testOnAll(
  "A project over its quota keeps its files, may shrink, and cannot grow",
  async (bench) => {
    await put(bench, "a", bytes(500));
    await put(bench, "b", bytes(500));
    await setQuota(bench, 300);
    await assertQuotaExceeded(put(bench, "c", bytes(1)));
    await assertQuotaExceeded(put(bench, "a", bytes(501)));
    await put(bench, "a", bytes(500, 2));
    await put(bench, "a", bytes(400));
    await put(bench, "c", bytes(0));
    await bench.store.files.delete(place("b"));
    await assertQuotaExceeded(put(bench, "c", bytes(1)));
    await setQuota(bench, null);
    await put(bench, "c", bytes(1000));
    assertEquals(await usedBytes(bench), 1400);
  },
);

testOnAll(
  "Concurrent writes of many sizes never exceed the quota and lose no room",
  async (bench) => {
    await setQuota(bench, 100_000);
    const sizes = Array.from({ length: 64 }, (_, i) => 1000 + ((i * 37) % 64) * 60);
    const taken = await putAll([bench], sizes);
    assertEquals(await usedBytes(bench), sumOf(taken));
    const left = 100_000 - sumOf(taken);
    assert(left >= 0 && left < Math.max(...sizes), `${left} bytes are left`);
    await put(bench, "rest", bytes(left));
    assertEquals(await usedBytes(bench), 100_000);
  },
);

testOnAll("Files of several chunks count like small ones", async (bench) => {
  await setQuota(bench, 10 * CHUNK_SIZE);
  const taken = await putAll([bench], Array.from({ length: 8 }, () => 3 * CHUNK_SIZE));
  assertEquals([taken.length, await usedBytes(bench)], [3, 9 * CHUNK_SIZE]);
  await sweepLater(bench);
  assertEquals(await countEntries(bench, ["chunk"]), 9);
});

testOnAll("Concurrent deletes and writes keep the sum exact", async (bench) => {
  await setQuota(bench, 10_000);
  await putAll([bench], Array.from({ length: 10 }, () => 1000));
  const work = Array.from({ length: 60 }, async (_, i) => {
    const name = `${i % 12}`;
    if (i % 3 === 0) await bench.store.files.delete(place(name));
    else await put(bench, name, bytes(500 + (i * 97) % 1500));
    return await usedNow(bench);
  });
  for (const outcome of await Promise.allSettled(work)) {
    if (outcome.status === "fulfilled") assert(outcome.value <= 10_000);
    else if (!(outcome.reason instanceof QuotaExceeded)) throw outcome.reason;
  }
  await usedBytes(bench);
});

testOnAll("Two processes exceed a quota by what they write at once, and no more", async (bench) => {
  const other = otherProcess(bench);
  await setQuota(bench, 30_000);
  const taken = await putAll([bench, other], Array.from({ length: 64 }, () => 1000));
  assertEquals(await usedBytes(bench), sumOf(taken));
  assert(taken.length >= 30 && taken.length <= 60, `${taken.length} files were stored`);
  assertEquals(
    await putAll([bench, other], Array.from({ length: 9 }, () => 1000), (i) => `m${i}`),
    [],
  );
  await Promise.all(Array.from({ length: 64 }, async (_, i) => {
    await (i % 3 ? bench : other).store.files.delete(place(`${i}`));
  }));
  assertEquals(await usedBytes(bench), 0);
  const more = await putAll([other], Array.from({ length: 64 }, () => 1500));
  assertEquals([more.length, await usedBytes(bench)], [20, 30_000]);
});

Deno.test("Two handles on one file fill a quota, and neither is locked out", async () => {
  const folder = await Deno.makeTempDir({ prefix: "kvdrive-quota-" });
  const onError = (error: unknown) => {
    throw error;
  };
  const benches: TestStore[] = [];
  try {
    for (let i = 0; i < 2; i++) {
      const db = await openDatabase(folder);
      benches.push({ db, store: new Store(db, { onError }) });
    }
    const [first] = benches;
    assert(first !== undefined);
    await first.store.projects.create(project, undefined, { maxBytes: 50_500 });
    const sizes = Array.from({ length: 200 }, () => 1000);
    const taken = await putAll(benches, sizes);
    assert(taken.length >= 50 && taken.length <= 100, `${taken.length} files were stored`);
    assertEquals(await usedBytes(first), 1000 * taken.length);
    await setQuota(first, 150_500);
    await putAll(benches, sizes, (i) => `again ${i}`);
    const used = await usedBytes(first);
    assert(used >= 150_000 && used <= 251_000, `${used} bytes`);
  } finally {
    for (const { store } of benches) await store.close();
    await Deno.remove(folder, { recursive: true });
  }
});

testOnAll("A quota that is set during writes holds from then on", async (bench) => {
  const other = otherProcess(bench);
  for (let round = 0; round < 10; round++) {
    await setQuota(bench, null);
    await other.store.files.reader.stat(place("known without a limit"));
    const names = (i: number) => `${round}-${i}`;
    const writing = putAll([bench, other], Array.from({ length: 20 }, () => 1000), names);
    for (let i = 0; i < round; i++) await bench.store.files.reader.stat(place("another"));
    await setQuota(bench, 1000 * (20 * round + 5));
    await writing;
    const now = await usedBytes(bench);
    const more = await putAll(
      [other, bench],
      Array.from({ length: 9 }, () => 1000),
      (i) => `x${i}`,
    );
    // Each of the two may fill what is left.
    assert(more.length === 0 || now + sumOf(more) / 2 <= 1000 * (20 * round + 5));
    await Promise.all(
      more.map((_, i) => i).concat([0, 1, 2, 3, 4, 5, 6, 7, 8]).map((i) => {
        return bench.store.files.delete(place(`x${i}`));
      }),
    );
    assertEquals(await usedBytes(bench), now);
  }
});

testOnAll("A quota that another process raised counts at once", async (bench) => {
  const other = otherProcess(bench);
  await setQuota(bench, 100);
  await put(other, "a", bytes(100));
  await setQuota(bench, 200);
  await put(other, "b", bytes(100));
  await bench.store.files.delete(place("a"));
  await put(other, "c", bytes(100));
  assertEquals(await usedBytes(bench), 200);
});

testOnAll("A drive that is being deleted makes room at once", async (bench) => {
  const other = otherProcess(bench);
  await setQuota(bench, 1000);
  await putAt(bench, { ...place("a"), drive: "large" }, bytes(900));
  await put(other, "b", bytes(100));
  await assertQuotaExceeded(put(other, "c", bytes(1)));
  await bench.store.projects.deleteDrive(project, "large");
  await put(other, "c", bytes(500));
  assertEquals(await usedBytes(bench), 600);
  await sweepLater(bench);
  await put(other, "d", bytes(400));
  await assertQuotaExceeded(put(bench, "e", bytes(1)));
  assertEquals(await usedBytes(bench), 1000);
  await putAt(bench, { ...place("a"), drive: "large" }, bytes(0));
  await bench.store.files.delete(place("d"));
  await putAt(bench, { ...place("a"), drive: "large" }, bytes(400));
  assertEquals(await usedBytes(bench), 1000);
});

testOnAll("Deleting drives during writes and deletes keeps the sum exact", async (bench) => {
  const other = otherProcess(bench);
  await setQuota(bench, 8000);
  for (let round = 0; round < 10; round++) {
    const at = (i: number) => ({ project, drive: i % 2 ? "kept" : "deleted", name: `${i}` });
    const work = Array.from({ length: 24 }, async (_, i) => {
      const one = i % 3 ? bench : other;
      if (i === 12) await bench.store.projects.deleteDrive(project, "deleted");
      else if (i % 5 === 0) await one.store.files.delete(at(i - 1));
      else await putAt(one, at(i), bytes(100 + 400 * (i % 4)));
    });
    for (const outcome of await Promise.allSettled(work)) {
      if (outcome.status === "fulfilled" || outcome.reason instanceof QuotaExceeded) continue;
      assertEquals(outcome.reason.name, "BeingDeleted");
    }
    // Two processes may each fill what is left.
    assert(await usedBytes(bench) <= 2 * 8000);
    await sweepLater(bench);
    await usedBytes(bench);
  }
});

testOnAll("A project that is deleted and created again has no quota", async (bench) => {
  await setQuota(bench, 1000);
  await put(bench, "a", bytes(1000));
  await bench.store.projects.delete(project);
  await sweepLater(bench);
  await assertSums(bench);
  assertEquals(await bench.store.usageOf(project), NO_PROJECT_USAGE);
  await bench.store.projects.create(project, undefined);
  await put(bench, "a", bytes(2000));
  assertEquals(await usedBytes(bench), 2000);
  assertEquals(await bench.store.projects.update("none", { maxBytes: 1 }), undefined);
});

testOnAll("Ensuring a project keeps its quota", async (bench) => {
  const { key } = await bench.store.projects.create("q", undefined, { maxBytes: 1000 });
  await bench.store.projects.ensure("q", key);
  assertEquals((await bench.store.projects.get("q"))?.maxBytes, 1000);
  await assertQuotaExceeded(putAt(bench, { ...place("a"), project: "q" }, bytes(1001)));
});

testOnAll("A project without a quota costs the same reads when others have one", async (bench) => {
  // Three rounds, so that the count is the same on the store that loses every third answer.
  const writes = async () => {
    for (let round = 0; round < 3; round++) {
      await put(bench, "a", bytes(1000));
      await bench.store.files.delete(place("a"));
    }
  };
  await writes();
  const before = await countReads(bench, writes);
  await bench.store.projects.create("other", undefined, { maxBytes: 1000 });
  await putAt(bench, { ...place("a"), project: "other" }, bytes(500));
  assertEquals(await countReads(bench, writes), before);
});

/**
 * Items of the trash from their deadline on: that of the file, or that of the trash. They count until a sweep.
 *
 * @module
 */
import { assertEquals } from "@std/assert";
import { DAY, HOUR } from "../../rules/units.ts";
import { ANYWAY, bytes, DRIVE, inPieces, place } from "../testing/bodies.ts";
import { assertKeys, drivesOf } from "../testing/entries.ts";
import {
  assertQuotaExceeded,
  LIFETIME,
  put,
  putAt,
  putExpiring,
  sweep,
  usedNow,
} from "../testing/files.ts";
import { otherProcess, testOnAll, type TestStore } from "../testing/stores.ts";
import { withClock } from "../testing/time.ts";

const { project } = DRIVE;

/** Puts a file into the trash, as one that expires if it has a lifetime. Returns the id of the item. */
async function trash(
  bench: TestStore,
  name: string,
  size: number,
  lifetime?: number,
): Promise<string> {
  if (lifetime === undefined) await put(bench, name, bytes(size));
  else await putExpiring(bench, name, size, lifetime);
  await bench.store.files.delete(place(name));
  const [newest] = await items(bench);
  return newest?.id ?? "";
}

async function items({ store }: TestStore): Promise<{ id: string; name: string }[]> {
  return (await store.trash.list(DRIVE, { limit: 1000, last: "", prefix: "" })).items;
}

async function withTrash({ store }: TestStore, trashDays = 1): Promise<void> {
  await store.projects.update(project, { trashDays });
}

/** Returns the files and bytes of the drive in the trash, and those of its project. */
async function counted({ store }: TestStore): Promise<(number | undefined)[]> {
  const drive = (await drivesOf(store, project)).find(({ name }) => name === DRIVE.drive);
  const all = (await store.usage()).find((usage) => usage.project === project);
  return [drive?.trashFiles, drive?.trashBytes, all?.trashFiles, all?.trashBytes];
}

/** What is left of a drive without files. */
const EMPTY = Object.fromEntries(
  ["files", "bytes", "trash_files", "trash_bytes"].map((name) => [`usage ${name}`, 1]),
);

for (const [what, lifetime] of [["the file", LIFETIME], ["the trash", undefined]] as const) {
  testOnAll(`An item counts until the sweep after the deadline of ${what}`, async (bench) => {
    await withClock(async (forward) => {
      await withTrash(bench);
      await trash(bench, "a", 10, lifetime);
      await trash(bench, "empty", 0, lifetime);
      forward((lifetime ?? DAY) - 1);
      await trash(bench, "later", 7);
      await putAt(bench, { ...place("a"), drive: "other" }, bytes(5));
      assertEquals(await counted(bench), [3, 17, 3, 17]);
      forward(1);
      assertEquals((await items(bench)).map(({ name }) => name), ["later"]);
      await sweep(bench);
      assertEquals(await counted(bench), [1, 7, 1, 7]);
      const [drive, other] = await drivesOf(bench.store, project);
      assertEquals([drive?.files, drive?.bytes, other?.files, other?.bytes], [0, 0, 1, 5]);
    });
  });
}

testOnAll("Deleting for good does not count items that have expired", async (bench) => {
  const { store } = bench;
  await withClock(async (forward) => {
    await withTrash(bench);
    const first = await trash(bench, "a", 10, LIFETIME);
    await trash(bench, "b", 10, LIFETIME);
    const kept = await trash(bench, "c", 10);
    await trash(bench, "d", 10);
    forward(LIFETIME);
    assertEquals(await store.trash.names(DRIVE, [first, kept]), [undefined, "c"]);
    assertEquals(await store.trash.delete(DRIVE, first), false);
    assertEquals(await store.trash.delete(DRIVE, kept), true);
    assertEquals(await store.trash.empty(DRIVE), 1);
    await assertKeys(bench, EMPTY);
  });
});

testOnAll("An expired item that was deleted does not come back", async (bench) => {
  await withClock(async (_, set) => {
    await withTrash(bench);
    const id = await trash(bench, "a", 10, HOUR);
    set(2 * HOUR);
    assertEquals(await bench.store.trash.delete(DRIVE, id), false);
    set(-2 * HOUR);
    assertEquals(await items(bench), []);
  });
});

testOnAll(
  "A write that only expired items keep from fitting into the quota is accepted after a sweep",
  async (bench) => {
    const { store } = bench;
    await store.projects.update(project, { trashDays: 1, maxBytes: 300_000 });
    const trashed: [lifetime: number | undefined, forward: number][] = [
      [LIFETIME, LIFETIME],
      [undefined, DAY],
    ];
    for (const [lifetime, passed] of trashed) {
      await withClock(async (forward) => {
        for (const [size, announced] of [[10, 10], [200_000, 200_000], [90_000, undefined]]) {
          await trash(bench, "a", 150_000, lifetime);
          await trash(bench, "b", 100_000, lifetime);
          await putExpiring(bench, "live", 50_000, passed);
          await assertQuotaExceeded(put(bench, "c", bytes(10)));
          forward(passed);
          await sweep(bench);
          const options = { ...ANYWAY, announced };
          await store.files.put(place("c"), inPieces(bytes(size ?? 0)), options);
          assertEquals(await usedNow(bench), size);
          await store.files.delete(place("c"));
          await store.trash.empty(DRIVE);
        }
        await trash(bench, "a", 250_000, lifetime);
        await put(bench, "c", bytes(50_000));
        forward(passed);
        await sweep(bench);
        await assertQuotaExceeded(put(bench, "d", bytes(250_001)));
        await put(bench, "d", bytes(250_000));
        for (const name of ["c", "d"]) await store.files.delete(place(name));
        await store.trash.empty(DRIVE);
        assertEquals(await usedNow(bench), 0);
      });
    }
  },
);

testOnAll("Items that many remove at the same time leave the counters once", async (bench) => {
  const other = otherProcess(bench);
  await bench.store.projects.update(project, { trashDays: 1, maxBytes: 600 });
  for (let round = 0; round < 5; round++) {
    await withClock(async (forward) => {
      for (let i = 0; i < 20; i++) await trash(bench, `n${i}`, 10, LIFETIME);
      const ids = (await items(bench)).map(({ id }) => id);
      forward(LIFETIME);
      const work: Promise<unknown>[] = [sweep(bench), sweep(other)];
      for (const id of ids) work.push(other.store.trash.delete(DRIVE, id));
      for (let i = 0; i < 20; i++) work.push(put(i % 2 ? bench : other, `new${i}`, bytes(20)));
      await Promise.all(work);
      assertEquals(await counted(bench), [0, 0, 0, 0]);
      assertEquals(await usedNow(bench), 400);
      for (let i = 0; i < 20; i++) await bench.store.files.delete(place(`new${i}`));
      assertEquals(await bench.store.trash.empty(DRIVE), 20);
      assertEquals(await usedNow(bench), 0);
      await assertKeys(bench, EMPTY);
    });
  }
});

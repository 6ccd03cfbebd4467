import { assertEquals, assertRejects } from "@std/assert";
import { DAY } from "../../rules/units.ts";
import { QuotaExceeded } from "../engine/errors.ts";
import { CHUNK_SIZE } from "../engine/records.ts";
import { bytes, DRIVE, place } from "../testing/bodies.ts";
import { assertKeys } from "../testing/entries.ts";
import { put, read, recordOf } from "../testing/files.ts";
import { otherProcess, sweepLater, testOnAll, type TestStore } from "../testing/stores.ts";
import type { TrashItem } from "./trash.ts";

const FIRST = { limit: 1000, last: "", prefix: "" };

async function items({ store }: TestStore, prefix = ""): Promise<TrashItem[]> {
  return (await store.trash.list(DRIVE, { ...FIRST, prefix })).items;
}

async function withTrash({ store }: TestStore, trashDays = 7): Promise<void> {
  await store.projects.update("p", { trashDays });
}

async function counters({ store }: TestStore): Promise<number[]> {
  const [drive] = await store.drives("p");
  const { files = 0, bytes = 0, trashFiles = 0, trashBytes = 0 } = drive ?? {};
  return [files, bytes, trashFiles, trashBytes];
}

testOnAll("Without a trash nothing is kept", async (bench) => {
  await put(bench, "a", bytes(10));
  await put(bench, "a", bytes(20));
  await bench.store.files.delete(place("a"));
  assertEquals(await items(bench), []);
  assertEquals(await counters(bench), [0, 0, 0, 0]);
});

testOnAll(
  "What is deleted, overwritten or replaced is in the trash, newest first",
  async (bench) => {
    await withTrash(bench);
    await put(bench, "a", bytes(1));
    await put(bench, "a", bytes(2));
    await put(bench, "b", bytes(3));
    const { copies } = bench.store.files;
    const always = { overwrite: true, condition: () => true };
    await copies.run("move", { from: place("a"), to: place("b"), ...always });
    await bench.store.files.delete(place("b"));
    const listed = await items(bench);
    assertEquals(listed.map(({ name, reason, record }) => [name, reason, record.size]), [
      ["b", "deleted", 2],
      ["b", "replaced", 3],
      ["a", "replaced", 1],
    ]);
    for (const { deleted, expires } of listed) assertEquals(expires - deleted, 7 * DAY);
    assertEquals(await counters(bench), [0, 0, 3, 6]);
    assertEquals((await items(bench, "a")).length, 1);
  },
);

for (const size of [100, 2 * CHUNK_SIZE + 1]) {
  testOnAll(`A file of ${size} bytes comes back from the trash unchanged`, async (bench) => {
    await withTrash(bench);
    const record = await put(bench, "a", bytes(size));
    await bench.store.files.delete(place("a"));
    await sweepLater(bench);
    const [item] = await items(bench);
    assertEquals(
      await bench.store.trash.restore(DRIVE, item?.id ?? "", { overwrite: false }),
      "restored",
    );
    assertEquals(await recordOf(bench, "a"), record);
    assertEquals(await read(bench, "a"), bytes(size));
    assertEquals(await counters(bench), [1, size, 0, 0]);
    assertEquals(
      await bench.store.trash.restore(DRIVE, item?.id ?? "", { overwrite: true }),
      "absent",
    );
  });
}

testOnAll(
  "A file that has the name is replaced only on demand, and goes to the trash",
  async (bench) => {
    await withTrash(bench);
    await put(bench, "a", bytes(1));
    await put(bench, "a", bytes(2));
    const [item] = await items(bench);
    const restore = (overwrite: boolean) =>
      bench.store.trash.restore(DRIVE, item?.id ?? "", { overwrite });
    assertEquals(await restore(false), "taken");
    assertEquals(await read(bench, "a"), bytes(2));
    assertEquals(await restore(true), "restored");
    assertEquals(await read(bench, "a"), bytes(1));
    assertEquals((await items(bench)).map(({ record }) => record.size), [2]);
  },
);

testOnAll("Items are deleted at their deadline, with their bytes", async (bench) => {
  await withTrash(bench, 1);
  await put(bench, "a", bytes(3 * CHUNK_SIZE));
  await put(bench, "b", bytes(5));
  for (const name of ["a", "b"]) await bench.store.files.delete(place(name));
  await bench.store.sweeper.sweep(Date.now() + DAY - 60_000);
  assertEquals((await items(bench)).length, 2);
  await bench.store.sweeper.sweep(Date.now() + DAY + 60_000);
  await sweepLater(bench);
  assertEquals(await counters(bench), [0, 0, 0, 0]);
  const left = {
    "usage files": 1,
    "usage bytes": 1,
    "usage trash_files": 1,
    "usage trash_bytes": 1,
  };
  await assertKeys(bench, left);
});

testOnAll("Turning the trash off empties it, and what is deleted later is gone", async (bench) => {
  await withTrash(bench);
  for (const name of ["a", "b", "c"]) await put(bench, name, bytes(CHUNK_SIZE + 1));
  await bench.store.files.delete(place("a"));
  await bench.store.files.delete(place("b"));
  await bench.store.projects.update("p", { trashDays: 0 });
  await withTrash(bench);
  await bench.store.files.delete(place("c"));
  await sweepLater(bench);
  assertEquals((await items(bench)).map(({ name }) => name), ["c"], "It was deleted afterwards");
  assertEquals(await counters(bench), [0, 0, 1, CHUNK_SIZE + 1]);
});

testOnAll("The trash counts towards the quota until it is emptied", async (bench) => {
  await bench.store.projects.update("p", { trashDays: 3, maxBytes: 100 });
  await put(bench, "a", bytes(60));
  await bench.store.files.delete(place("a"));
  await assertRejects(() => put(bench, "b", bytes(60)), QuotaExceeded);
  assertEquals(await bench.store.trash.empty(DRIVE), 1);
  await put(bench, "b", bytes(60));
  assertEquals(await counters(bench), [1, 60, 0, 0]);
});

testOnAll("The trash is listed in pages, each item once", async (bench) => {
  await withTrash(bench);
  const names = Array.from({ length: 25 }, (_, i) => `file-${i}`);
  for (const name of names) {
    await put(bench, name, bytes(1));
    await bench.store.files.delete(place(name));
  }
  const found: string[] = [];
  let last: string | undefined = "";
  while (last !== undefined) {
    const page = await bench.store.trash.list(DRIVE, { limit: 10, last, prefix: "" });
    found.push(...page.items.map(({ name }) => name));
    last = page.last;
  }
  assertEquals(found, names.toReversed());
});

testOnAll("Two processes restore and delete one item: one of them succeeds", async (bench) => {
  const other = otherProcess(bench);
  await withTrash(bench);
  for (let round = 0; round < 5; round++) {
    await put(bench, "a", bytes(CHUNK_SIZE * 2));
    await bench.store.files.delete(place("a"));
    const [item] = await items(bench);
    const id = item?.id ?? "";
    const [restored, deleted] = await Promise.all([
      bench.store.trash.restore(DRIVE, id, { overwrite: false }),
      other.store.trash.delete(DRIVE, id),
    ]);
    assertEquals(deleted, restored === "absent");
    await sweepLater(bench);
    assertEquals(
      await read(bench, "a"),
      restored === "restored" ? bytes(CHUNK_SIZE * 2) : undefined,
    );
    await bench.store.files.delete(place("a"));
    await bench.store.trash.empty(DRIVE);
  }
  assertEquals(await counters(bench), [0, 0, 0, 0]);
});

testOnAll(
  "A copy in the trash keeps the bytes of the others, and the others keep its",
  async (bench) => {
    await withTrash(bench);
    const content = bytes(CHUNK_SIZE * 2);
    await put(bench, "a", content);
    const always = { overwrite: true, condition: () => true };
    await bench.store.files.copies.run("copy", { from: place("a"), to: place("b"), ...always });
    for (const name of ["a", "b"]) await bench.store.files.delete(place(name));
    const [b, a] = await items(bench);
    await bench.store.trash.delete(DRIVE, a?.id ?? "");
    await sweepLater(bench);
    await bench.store.trash.restore(DRIVE, b?.id ?? "", { overwrite: false });
    assertEquals(await read(bench, "b"), content);
  },
);

testOnAll("A deleted drive takes its trash along", async (bench) => {
  await withTrash(bench);
  await put(bench, "a", bytes(CHUNK_SIZE * 2));
  await bench.store.files.delete(place("a"));
  await bench.store.projects.deleteDrive("p", "d");
  await sweepLater(bench);
  await assertKeys(bench, {});
});

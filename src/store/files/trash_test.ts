import { assert, assertEquals, assertRejects } from "@std/assert";
import { DAY } from "../../rules/units.ts";
import { QuotaExceeded } from "../engine/errors.ts";
import { keys } from "../engine/keys.ts";
import { Operation } from "../engine/operation.ts";
import { CHUNK_SIZE } from "../engine/records.ts";
import { bytes, DRIVE, place } from "../testing/bodies.ts";
import { assertKeys, drivesOf } from "../testing/entries.ts";
import { LIFETIME, put, putExpiring, read, recordOf } from "../testing/files.ts";
import { otherProcess, sweepLater, testOnAll, type TestStore } from "../testing/stores.ts";
import { withClock } from "../testing/time.ts";
import type { TrashItem } from "./trash.ts";

const FIRST = { limit: 1000, last: "", prefix: "" };

async function items({ store }: TestStore, prefix = ""): Promise<TrashItem[]> {
  return (await store.trash.list(DRIVE, { ...FIRST, prefix })).items;
}

async function withTrash({ store }: TestStore, trashDays = 7): Promise<void> {
  await store.projects.update("p", { trashDays });
}

async function counters({ store }: TestStore): Promise<number[]> {
  const [drive] = await drivesOf(store, "p");
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
    assertEquals(await recordOf(bench, "a"), { ...record, sameSecond: true });
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

testOnAll("A page is the last one if no further item has the prefix", async (bench) => {
  await withTrash(bench);
  for (const name of ["b1", "a1", "b2", "b3", "a2", "b4"]) {
    await put(bench, name, bytes(1));
    await bench.store.files.delete(place(name));
  }
  const page = async (last: string, limit: number) => {
    const found = await bench.store.trash.list(DRIVE, { limit, last, prefix: "a" });
    return { names: found.items.map(({ name }) => name), last: found.last };
  };
  const first = await page("", 1);
  assertEquals(first.names, ["a2"]);
  assertEquals(await page(first.last ?? "", 1), { names: ["a1"], last: undefined });
  assertEquals(await page("", 2), { names: ["a2", "a1"], last: undefined });
});

testOnAll("A page is the last one if all further items have expired", async (bench) => {
  await withClock(async (forward) => {
    await withTrash(bench);
    await putExpiring(bench, "short", 1);
    await put(bench, "long", bytes(1));
    for (const name of ["short", "long"]) await bench.store.files.delete(place(name));
    forward(LIFETIME);
    const page = await bench.store.trash.list(DRIVE, { limit: 1, last: "", prefix: "" });
    assertEquals([page.items.map(({ name }) => name), page.last], [["long"], undefined]);
  });
});

testOnAll("A page looks at 10,000 items at most, also after its last item", async (bench) => {
  await withTrash(bench);
  await put(bench, "a", bytes(1));
  await bench.store.files.delete(place("a"));
  const [item] = await items(bench);
  assert(item !== undefined);
  const { id, ...record } = item;
  for (let added = 0; added < 10_500;) {
    const operation = new Operation();
    for (let i = 0; i < 300; i++, added++) {
      // Of ids that are less, so older.
      const older = id.slice(0, 10).replace(/./, "0") + String(added).padStart(16, "0");
      operation.set(keys.trash(DRIVE.project, DRIVE.drive, older), { ...record, name: "b" });
    }
    await bench.db.commitBulk(operation);
  }
  const page = async (last: string) =>
    await bench.store.trash.list(DRIVE, { limit: 1, last, prefix: "a" });
  const first = await page("");
  assertEquals(first.items.length, 1);
  assert(first.last !== undefined && first.last < id, "It continues after what was looked at");
  assertEquals(await page(first.last), { items: [] });
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

import { assert, assertEquals, assertRejects } from "@std/assert";
import { delay } from "@std/async/delay";
import { BeingDeleted, NoSuchDrive, NoSuchProject, UploadRefused } from "../engine/errors.ts";
import { keys } from "../engine/keys.ts";
import type { FileRecord } from "../engine/records.ts";
import { ANYWAY, bytes, DRIVE, inPieces, place } from "../testing/bodies.ts";
import { assertKeys, dataWith, drivesOf } from "../testing/entries.ts";
import { put } from "../testing/files.ts";
import { otherProcess, sweepLater, testOnAll, type TestStore } from "../testing/stores.ts";
import { withClock } from "../testing/time.ts";
import { HOUR } from "../../rules/units.ts";

const { project, drive } = DRIVE;

async function deleteEmpty({ store }: TestStore): Promise<string> {
  return await store.projects.deleteEmptyDrive(project, drive);
}

testOnAll("A bucket is created once, and deleted if it is empty", async (bench) => {
  const { projects } = bench.store;
  assertEquals(await projects.hasDrive(project, drive), false);
  assertEquals(await deleteEmpty(bench), "absent");
  for (let i = 0; i < 3; i++) {
    assertEquals(await projects.createDrive(project, drive), "created");
    assertEquals(await projects.createDrive(project, drive), "exists");
    assertEquals(await projects.hasDrive(project, drive), true);
    assertEquals((await drivesOf(bench.store, project)).map(({ name }) => name), [drive]);
    assertEquals(await deleteEmpty(bench), "deleted");
    assertEquals(await projects.hasDrive(project, drive), false);
    await assertKeys(bench, {});
  }
  assertEquals(await deleteEmpty(bench), "absent");
  assertEquals(await projects.hasDrive("none", drive), false);
  await assertRejects(() => projects.createDrive("none", drive), NoSuchProject);
});

/** The content that a drive may have, and how it is removed. */
const CONTENTS: Record<string, (bench: TestStore) => Promise<() => Promise<unknown>>> = {
  "a file": async (bench) => {
    await put(bench, "a", bytes(1));
    return () => bench.store.files.delete(place("a"));
  },
  "a folder": async ({ store }) => {
    await store.folders.create(place("a/"));
    assert((await store.folders.get(place("a/")))?.created !== undefined);
    return () => store.folders.delete(place("a/"));
  },
  "a file in the trash": async (bench) => {
    const { store } = bench;
    await store.projects.update(project, { trashDays: 1 });
    await put(bench, "a", bytes(1));
    await store.files.delete(place("a"));
    return () => store.trash.empty(DRIVE);
  },
};

for (const [what, add] of Object.entries(CONTENTS)) {
  testOnAll(`A bucket with ${what} is not empty`, async (bench) => {
    const remove = await add(bench);
    assertEquals(await deleteEmpty(bench), "not empty");
    assertEquals(await bench.store.projects.hasDrive(project, drive), true);
    await remove();
    assertEquals(await deleteEmpty(bench), "deleted");
    await sweepLater(bench);
    assertEquals(await dataWith(bench, `"${drive}"`), []);
  });
}

testOnAll("A bucket with an open upload can be deleted, which ends the upload", async (bench) => {
  const { uploads } = bench.store;
  const id = await uploads.start(place("a"), undefined);
  const part = { id, part: 1, type: undefined };
  await uploads.putPart(place("a"), part, inPieces(bytes(9)), () => {});
  assertEquals(await deleteEmpty(bench), "deleted");
  await assertRejects(() => uploads.session(place("a"), id), UploadRefused);
  assertEquals((await bench.store.usageOf("p")).openUploads, 0);
  await sweepLater(bench);
  await assertKeys(bench, {});
});

testOnAll("Expired files do not prevent the deletion of a bucket", async (bench) => {
  await withClock(async (forward) => {
    await bench.store.files.put(place("a"), inPieces(bytes(9)), { ...ANYWAY, lifetime: HOUR });
    assertEquals(await deleteEmpty(bench), "not empty");
    forward(HOUR);
    assertEquals(await deleteEmpty(bench), "deleted");
    await sweepLater(bench);
    await assertKeys(bench, {});
  });
});

testOnAll("A bucket can be created again after its deletion has ended", async (bench) => {
  await put(bench, "a", bytes(1));
  await bench.store.projects.deleteDrive(project, drive);
  const { projects } = bench.store;
  assertEquals(await deleteEmpty(bench), "absent");
  await assertRejects(() => projects.createDrive(project, drive), BeingDeleted);
  await bench.store.sweeper.sweep();
  assertEquals(await projects.createDrive(project, drive), "created");
});

testOnAll("A write of another process during a deletion is kept or refused", async (bench) => {
  const other = otherProcess(bench);
  const outcomes = new Set<string>();
  for (let round = 0; round < 60; round++) {
    await bench.store.projects.createDrive(project, drive);
    // In even rounds the write begins later, in odd ones the deletion.
    const lead = Math.floor(round / 2) % 20;
    const begin = async <T>(turns: number, work: () => Promise<T>) => {
      for (let turn = 0; turn < turns; turn++) await delay(0);
      return await work();
    };
    const [deleted, written] = await Promise.allSettled([
      begin(round % 2 * lead, () => deleteEmpty(bench)),
      begin((1 - round % 2) * lead, () => put(other, "a", bytes(10, round))),
    ]);
    assert(deleted.status === "fulfilled");
    if (written.status === "rejected") assert(written.reason instanceof BeingDeleted);
    const record = await other.store.files.reader.stat(place("a"));
    assertEquals(record !== undefined, written.status === "fulfilled");
    outcomes.add(`${deleted.value}, ${written.status}`);
    await other.store.files.delete(place("a"));
    assertEquals(await deleteEmpty(bench), record === undefined ? "absent" : "deleted");
    await sweepLater(bench);
    await assertKeys(bench, {});
  }
  assert(outcomes.size > 1, [...outcomes].join("; "));
});

testOnAll("A file that is written after the check prevents the deletion", async (bench) => {
  await bench.store.projects.createDrive(project, drive);
  const { reader } = bench.db;
  const { list } = reader;
  reader.list = <T>(...args: Parameters<typeof list>) => {
    const entries = list.apply(reader, args) as Deno.KvListIterator<T>;
    if (!("prefix" in args[0]) || args[0].prefix[0] !== "folder") return entries;
    reader.list = list;
    return (async function* () {
      yield* entries;
      await put(otherProcess(bench), "a", bytes(1));
    })() as unknown as Deno.KvListIterator<T>;
  };
  assertEquals(await deleteEmpty(bench), "not empty");
  const { value } = await bench.db.reader.get<FileRecord>(keys.file(place("a")));
  assert(value !== null);
});

testOnAll("A write that needs its drive does not create it, in any process", async (bench) => {
  const { store } = bench;
  const other = otherProcess(bench).store;
  const target = { ...place("a"), needsDrive: true };
  await assertRejects(() => store.files.put(target, inPieces(bytes(1)), ANYWAY), NoSuchDrive);
  await assertRejects(() => store.folders.create({ ...target, name: "a/" }), NoSuchDrive);
  await assertRejects(() => store.uploads.start(target, undefined), NoSuchDrive);
  for (const size of [1, 200_000]) {
    await store.projects.createDrive(project, drive);
    const late = async function* (): AsyncGenerator<Uint8Array> {
      assertEquals(await other.projects.deleteEmptyDrive(project, drive), "deleted");
      yield bytes(size);
    };
    await assertRejects(() => store.files.put(target, late(), ANYWAY), NoSuchDrive);
    assertEquals(await drivesOf(store, project), []);
  }
  await sweepLater(bench);
  await assertKeys(bench, {});
});

testOnAll(
  "A drive that another process has deleted takes no write that needs it",
  async (bench) => {
    const { store } = bench;
    const other = otherProcess(bench).store;
    const target = { ...place("a"), needsDrive: true };
    const from = { ...target, drive: "from", needsDrive: false };
    await store.files.put(from, inPieces(bytes(1)), ANYWAY);
    const put = () => store.files.put(target, inPieces(bytes(1)), ANYWAY);
    const copied = { from, to: target, overwrite: true, condition: () => true };
    const writes = [
      put,
      () => store.folders.create({ ...target, name: "a/" }),
      () => store.uploads.start(target, undefined),
      () => store.locks.change(target, () => ({ locks: [], result: undefined })),
      () => store.files.copies.run("copy", copied),
    ];
    for (const write of writes) {
      await store.projects.createDrive(project, drive);
      await put();
      await store.files.delete(target);
      assertEquals(await other.projects.deleteEmptyDrive(project, drive), "deleted");
      await assertRejects(async () => void await write(), NoSuchDrive);
      assertEquals((await drivesOf(store, project)).length, 1);
    }
  },
);

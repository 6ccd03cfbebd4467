import { assertEquals, assertRejects } from "@std/assert";
import { delay } from "@std/async/delay";
import { NoSuchDrive, NoSuchProject } from "../engine/errors.ts";
import { keys } from "../engine/keys.ts";
import type { LockRecord } from "../engine/records.ts";
import { MAX_TRANSACTION_TRIES } from "../engine/transact.ts";
import { DRIVE } from "../testing/bodies.ts";
import { otherProcess, testOnAll, type TestStore } from "../testing/stores.ts";
import { TooManyLocks } from "./lock_store.ts";

function lock(name: string, { life = 60_000, owner = "", by = "key" } = {}): LockRecord {
  return {
    token: `urn:uuid:${crypto.randomUUID()}`,
    name,
    scope: "shared",
    isDeep: false,
    owner,
    by,
    expires: Date.now() + life,
    lifetime: life,
  };
}

async function add({ store }: TestStore, ...added: LockRecord[]): Promise<number> {
  return await store.locks.change(DRIVE, (locks) => ({
    locks: [...locks, ...added],
    result: locks.length,
  }));
}

async function names({ store }: TestStore): Promise<string[]> {
  return (await store.locks.read(DRIVE)).locks.map(({ name }) => name);
}

testOnAll("Locks are kept until they end", async (bench) => {
  const { store, db } = bench;
  await assertRejects(() => add(bench, lock("a")), NoSuchDrive);
  await store.projects.createDrive(DRIVE.project, DRIVE.drive);
  assertEquals(await add(bench, lock("a"), lock("b", { life: 1500 })), 0);
  assertEquals(await names(bench), ["a", "b"]);
  await delay(1520);
  assertEquals(await names(bench), ["a"]);
  assertEquals(await add(bench, lock("c")), 1);
  assertEquals(await names(bench), ["a", "c"]);
  await store.locks.change(DRIVE, () => ({ locks: [], result: undefined }));
  assertEquals((await db.reader.get(keys.locks(DRIVE))).versionstamp, null);
});

testOnAll("Processes that lock at the same time see each other's locks", async (bench) => {
  await bench.store.projects.createDrive(DRIVE.project, DRIVE.drive);
  const other = otherProcess(bench);
  const all = Array.from({ length: 20 }, (_, i) => i);
  const counts = await Promise.all(
    all.map((i) => add(i % 2 === 0 ? bench : other, lock(`${i}`))),
  );
  assertEquals(counts.sort((a, b) => a - b), all);
  assertEquals((await names(bench)).length, all.length);
});

testOnAll("A drive has room for a limited number of locks", async (bench) => {
  await bench.store.projects.createDrive(DRIVE.project, DRIVE.drive);
  const many = (by: string, length: number) =>
    Array.from({ length }, (_, i) => lock(`${by} ${i}`, { by, owner: "x".repeat(800) }));
  await add(bench, ...many("one", 40));
  const large = (by: string) => lock("more", { by, owner: "x".repeat(10_000) });
  await assertRejects(() => add(bench, large("one")), TooManyLocks);
  await add(bench, ...many("two", 14));
  await assertRejects(() => add(bench, large("three")), TooManyLocks);
  assertEquals((await names(bench)).length, 54);
});

testOnAll("Locks are deleted with their drive", async (bench) => {
  const { store, db } = bench;
  await store.projects.createDrive(DRIVE.project, DRIVE.drive);
  await add(bench, lock("a"));
  assertEquals(await store.projects.deleteEmptyDrive(DRIVE.project, DRIVE.drive), "deleted");
  assertEquals((await db.reader.get(keys.locks(DRIVE))).versionstamp, null);
  assertEquals(await names(bench), []);
  await assertRejects(
    () => store.locks.change({ ...DRIVE, project: "none" }, () => ({ result: 1 })),
    NoSuchProject,
  );
});

testOnAll("Many changes at the same time wait for each other", async (bench) => {
  await bench.store.projects.createDrive(DRIVE.project, DRIVE.drive);
  const all = Array.from({ length: 2 * MAX_TRANSACTION_TRIES }, (_, i) => i);
  const counts = await Promise.all(all.map((i) => add(bench, lock(`${i}`))));
  assertEquals(counts, all);
});

testOnAll("A write that lost to a change comes before the next one", async ({ store }) => {
  await store.projects.createDrive(DRIVE.project, DRIVE.drive);
  const order: string[] = [];
  const change = (name: string) =>
    store.locks.change(DRIVE, () => {
      order.push(name);
      return { result: undefined };
    });
  const write = async () => {
    await store.locks.betweenChanges(DRIVE);
    for (let i = 0; i < 100; i++) await Promise.resolve();
    order.push("write");
  };
  await Promise.all([change("first"), write(), change("second")]);
  assertEquals(order, ["first", "write", "second"]);
});

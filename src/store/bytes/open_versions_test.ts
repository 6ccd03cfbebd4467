import { assertEquals } from "@std/assert";
import { type Database, openMemoryDatabase } from "../engine/database.ts";
import { prefixes } from "../engine/keys.ts";
import { SWEEP_INTERVAL } from "../maintenance/clocks.ts";
import { bytes, place } from "../testing/bodies.ts";
import { bytesVersions, keyKinds } from "../testing/entries.ts";
import { put } from "../testing/files.ts";
import { otherProcess, testOnAll, type TestStore } from "../testing/stores.ts";
import { until, withClock } from "../testing/time.ts";
import { CHUNK_SIZE } from "../engine/records.ts";
import { GARBAGE_GRACE } from "./garbage.ts";
import { OpenVersions, READ_LEASE_TIME } from "./open_versions.ts";

async function withVersions(test: (versions: OpenVersions, db: Database) => Promise<void>) {
  const db = await openMemoryDatabase();
  try {
    await test(new OpenVersions(db), db);
  } finally {
    await db.close();
  }
}

async function countLeases(db: Database): Promise<number> {
  return (await Array.fromAsync(db.reader.list({ prefix: prefixes.all("lease") }))).length;
}

Deno.test("A version is open until its last reader has finished", async () => {
  await withVersions(async (versions) => {
    assertEquals(versions.has("v1"), false);
    const first = versions.hold("v1");
    const second = versions.hold("v1");
    assertEquals([versions.has("v1"), versions.has("v2")], [true, false]);
    first();
    assertEquals(versions.has("v1"), true);
    second();
    assertEquals(versions.has("v1"), false);
    await versions.renew();
  });
});

Deno.test("Removing a reader twice has no effect", async () => {
  await withVersions(async (versions) => {
    const first = versions.hold("v1");
    const second = versions.hold("v1");
    first();
    first();
    assertEquals(versions.has("v1"), true);
    second();
    second();
    assertEquals(versions.has("v1"), false);
    const third = versions.hold("v1");
    first();
    assertEquals(versions.has("v1"), true);
    third();
    await versions.renew();
  });
});

Deno.test("Long reads have a lease until they end, short ones none", async () => {
  await withVersions(async (versions, db) => {
    const long = versions.hold("long");
    await versions.renew();
    const short = versions.hold("short");
    assertEquals(await countLeases(db), 0);
    await versions.renew();
    assertEquals(await countLeases(db), 1);
    short();
    long();
    await until(async () => await countLeases(db) === 0);
  });
});

Deno.test("More versions can be open than one operation renews", async () => {
  await withVersions(async (versions, db) => {
    const closes = Array.from({ length: 450 }, (_, i) => versions.hold(`v${i}`));
    await versions.renew();
    await versions.renew();
    assertEquals(await countLeases(db), 450);
    for (const close of closes) close();
    await until(async () => await countLeases(db) === 0);
  });
});

/** Replaces a file that is being read for long, and returns the reads, the reader's `close`, and a sweep in another process. */
async function replaceWhileRead(bench: TestStore) {
  await put(bench, "a", bytes(2 * CHUNK_SIZE));
  const [version = ""] = await bytesVersions(bench, place("a").name);
  const versions = new OpenVersions(bench.db);
  const close = versions.hold(version);
  await versions.renew();
  await versions.renew();
  await put(bench, "a", bytes(3 * CHUNK_SIZE));
  const { sweeper } = otherProcess(bench).store;
  return { versions, close, sweep: () => sweeper.sweep() };
}

async function countChunks(bench: TestStore): Promise<number> {
  return (await keyKinds(bench)).chunk ?? 0;
}

testOnAll("Other processes keep replaced bytes until a long read ends", async (bench) => {
  await withClock(async (forward) => {
    const { versions, close, sweep } = await replaceWhileRead(bench);
    for (let passed = 0; passed < 10 * GARBAGE_GRACE; passed += SWEEP_INTERVAL) {
      forward(SWEEP_INTERVAL);
      await versions.renew();
      await sweep();
    }
    assertEquals(await countChunks(bench), 5);
    close();
    await until(async () => await countLeases(bench.db) === 0);
    await sweep();
    assertEquals(await countChunks(bench), 3);
  });
});

testOnAll("The bytes that a dead process was reading go within two minutes", async (bench) => {
  await withClock(async (forward) => {
    const { close, sweep } = await replaceWhileRead(bench);
    let passed = 0;
    for (; await countChunks(bench) > 3; passed += SWEEP_INTERVAL) {
      forward(SWEEP_INTERVAL);
      await sweep();
    }
    assertEquals([passed >= READ_LEASE_TIME, passed <= 120_000], [true, true]);
    assertEquals(await countLeases(bench.db), 0);
    close();
  });
});

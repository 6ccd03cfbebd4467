import { assert, assertEquals, assertRejects } from "@std/assert";
import { delay } from "@std/async/delay";
import { MAX_PAYLOAD } from "../../rules/payloads.ts";
import { MIB } from "../../rules/units.ts";
import { BULK_COMMITS, embeddedCommits } from "../engine/commits.ts";
import { Database } from "../engine/database.ts";
import { StoreUnavailable } from "../engine/errors.ts";
import { keys, ranges } from "../engine/keys.ts";
import { MemoryPart } from "../engine/memory_budget.ts";
import { MAX_COMMIT_BYTES, Operation } from "../engine/operation.ts";
import { CHUNK_SIZE, type Place } from "../engine/records.ts";
import { GarbageCollector } from "../maintenance/garbage_collector.ts";
import { bytes, place } from "../testing/bodies.ts";
import { deleteEntry } from "../testing/entries.ts";
import { upload } from "../testing/files.ts";
import { enders, openRecords, sharedParts, testOnAll } from "../testing/stores.ts";
import { until, withClock } from "../testing/time.ts";
import { bulkCommitsPerUpload, ChunkWriter, DiscardedBytes } from "./receive.ts";
import { OpenVersions } from "./open_versions.ts";
import { newVersion } from "./versions.ts";
import { leaseLost, WRITE_LEASE_TIME } from "./write_lease.ts";

/** A digest, which the writer stores without checking it. */
const DIGEST = "A".repeat(43) + "=";

const PLACE: Place = { project: "p", drive: "d", name: "a.bin" };
const LONGEST: Place = {
  project: "p".repeat(64),
  drive: "d".repeat(128),
  name: "😀".repeat(256),
};

/** Runs before a commit of chunks. */
type Before = (chunks: number) => Promise<void>;

/** Runs a test with a database in memory whose commits of chunks can be delayed or made to fail. */
async function withDatabase(
  test: (db: Database) => Promise<void>,
  before: Before = () => Promise.resolve(),
): Promise<void> {
  const kv = await openRecords();
  const atomic = kv.atomic.bind(kv);
  kv.atomic = () => {
    const operation = atomic();
    const { set, commit } = operation;
    let chunks = 0;
    operation.set = (key, value, options) => {
      if (key[0] === "chunk") chunks++;
      return set.call(operation, key, value, options);
    };
    operation.commit = async () => {
      if (chunks > 0) await before(chunks);
      return await commit.call(operation);
    };
    return operation;
  };
  const db = new Database(kv, embeddedCommits(kv), { resources: kv });
  try {
    await test(db);
  } finally {
    await db.close();
  }
}

function chunk(n: number, size = CHUNK_SIZE): Uint8Array<ArrayBuffer> {
  return new Uint8Array(size).fill(n % 251 + 1);
}

async function writeAll(writer: ChunkWriter, count: number): Promise<void> {
  for (let n = 0; n < count; n++) await writer.write(chunk(n));
}

async function sweep(db: Database): Promise<void> {
  await new GarbageCollector(db, new OpenVersions(db), enders()).run();
}

/** Sweeps in another process, as if some time had passed. */
async function sweepElsewhere(shared: Database, ahead: number): Promise<void> {
  const db = new Database(shared.reader, shared.commits, sharedParts(shared));
  await new GarbageCollector(db, new OpenVersions(db), enders()).run(ahead);
}

/** Returns all keys of the store. */
async function allKeys(db: Database): Promise<Deno.KvKey[]> {
  return await Array.fromAsync(db.reader.list({ prefix: [] }), ({ key }) => key);
}

async function readChunks(db: Database, version: string): Promise<Uint8Array[]> {
  const entries = db.reader.list<Uint8Array>(ranges.chunks(version, 0, 10_000));
  return await Array.fromAsync(entries, ({ value }) => value);
}

Deno.test("All chunks are stored in order, for names of any length", async () => {
  for (const place of [PLACE, LONGEST]) {
    for (const count of [0, 1, 11, 12, 13, 24, 40]) {
      await withDatabase(async (db) => {
        const writer = new ChunkWriter(db, place, "v1", 160);
        await writeAll(writer, count);
        await writer.write(chunk(count, 5));
        const lease = await writer.finish(DIGEST);
        const found = await readChunks(db, "v1");
        assertEquals(found.map((bytes) => bytes[0]), found.map((_, n) => n % 251 + 1));
        assertEquals([found.length, found.at(-1)?.byteLength], [count + 1, 5]);
        assertEquals((await db.commit(lease.settle(new Operation()))).ok, true);
        const page = (await db.reader.get<Uint8Array>(keys.checksums("v1", 0))).value;
        assertEquals(page?.byteLength, 4 * (count + 1) + 32);
        assertEquals((await allKeys(db)).length, count + 2);
      });
    }
  }
});

Deno.test("Many chunks share a commit, and few commits are in flight", async () => {
  const sizes: number[] = [];
  const meeting = Promise.withResolvers<void>();
  let running = 0;
  let most = 0;
  await withDatabase(async (db) => {
    const writers = ["v1", "v2"].map((version) => new ChunkWriter(db, PLACE, version, 160));
    await Promise.all(writers.map((writer) => writeAll(writer, 60)));
    for (const lease of await Promise.all(writers.map((writer) => writer.finish(DIGEST)))) {
      lease.end();
    }
  }, async (chunks) => {
    sizes.push(chunks);
    most = Math.max(most, ++running);
    if (running === BULK_COMMITS) meeting.resolve();
    await meeting.promise;
    // Enough time for one commit too many.
    await delay(1);
    running--;
  });
  assertEquals(sizes, Array.from({ length: 10 }, () => 12));
  assert(sizes.every((size) => size * CHUNK_SIZE <= MAX_COMMIT_BYTES));
  assertEquals(most, BULK_COMMITS);
});

Deno.test("A writer waits while enough of its commits are in flight", async () => {
  const gate = Promise.withResolvers<void>();
  await withDatabase(async (db) => {
    const writer = new ChunkWriter(db, PLACE, "v1", 160);
    const commits = bulkCommitsPerUpload(db);
    await writeAll(writer, 12 * commits + 11);
    let done = false;
    const next = writer.write(chunk(0)).then(() => done = true);
    // After a read of the store, everything that does not wait for a commit has run.
    await db.reader.get(["nothing"]);
    assertEquals(done, false);
    gate.resolve();
    await next;
    (await writer.finish(DIGEST)).end();
    assertEquals((await readChunks(db, "v1")).length, 12 * (commits + 1));
  }, () => gate.promise);
});

Deno.test("The memory of a chunk is released once it is committed, and not before", async () => {
  const gate = Promise.withResolvers<void>();
  await withDatabase(async (db) => {
    const writer = new ChunkWriter(db, PLACE, "v1", 160);
    const chunks = Array.from({ length: 14 }, (_, n) => chunk(n));
    for (const each of chunks) await writer.write(each);
    await db.reader.get(["nothing"]);
    assertEquals(chunks.every(({ byteLength }) => byteLength === CHUNK_SIZE), true);
    gate.resolve();
    (await writer.finish(DIGEST)).end();
    assertEquals(chunks.map(({ byteLength }) => byteLength), Array(14).fill(0));
    assertEquals(await readChunks(db, "v1"), chunks.map((_, n) => chunk(n)));
  }, () => gate.promise);
});

Deno.test("Without memory few chunks share a commit, and one commit follows the other", async () => {
  const sizes: number[] = [];
  let running = 0;
  let most = 0;
  await withDatabase(async (db) => {
    const part = new MemoryPart("uploads", 8 * CHUNK_SIZE, 0);
    const memory = await part.reserve("p", 4 * CHUNK_SIZE);
    const writer = new ChunkWriter(db, PLACE, "v1", 160, memory);
    await writeAll(writer, 20);
    await writer.finish(DIGEST);
    const found = await readChunks(db, "v1");
    assertEquals(found.map((bytes) => bytes[0]), found.map((_, n) => n % 251 + 1));
    assertEquals([found.length, part.used], [20, 4 * CHUNK_SIZE]);
    memory[Symbol.dispose]();
  }, async (chunks) => {
    sizes.push(chunks);
    most = Math.max(most, ++running);
    await delay(1);
    running--;
  });
  assertEquals([sizes, most], [[3, 3, 3, 3, 3, 3, 2], 1]);
});

Deno.test("Memory beyond the upload's own is released with each commit", async () => {
  const part = new MemoryPart("uploads", 64 * CHUNK_SIZE, 0);
  const held: number[] = [];
  await withDatabase(async (db) => {
    const memory = await part.reserve("p", 4 * CHUNK_SIZE);
    const writer = new ChunkWriter(db, PLACE, "v1", 160, memory);
    await writeAll(writer, 160);
    await writer.finish(DIGEST);
    assertEquals([(await readChunks(db, "v1")).length, part.used], [160, 4 * CHUNK_SIZE]);
    memory[Symbol.dispose]();
    assertEquals(part.used, 0);
  }, () => {
    held.push(part.used / CHUNK_SIZE);
    return Promise.resolve();
  });
  assert(Math.max(...held) <= 32, `${held}`);
  assert(Math.max(...held) > 12, `${held}`);
});

Deno.test("A failed commit is thrown by the next call of the writer, and its bytes are removed", async () => {
  const failure = new TypeError("something else");
  let commits = 0;
  const fail = () => ++commits === 2 ? Promise.reject(failure) : Promise.resolve();
  await withDatabase(async (db) => {
    const writer = new ChunkWriter(db, PLACE, "v1", 160);
    const write = async () => {
      await writeAll(writer, 100);
      await writer.finish(DIGEST);
    };
    assertEquals(await assertRejects(write, Error), failure);
    assertEquals(await assertRejects(() => writer.finish(DIGEST), Error), failure);
    await writer.abandon();
    await sweep(db);
    assertEquals(await allKeys(db), []);
  }, fail);
});

Deno.test("A refused lease is thrown by the next call of the writer", async () => {
  await withDatabase(async (db) => {
    await db.commit(new Operation().set(keys.pending("v1"), "another's"));
    const writer = new ChunkWriter(db, PLACE, "v1", 160);
    const write = async () => {
      await writer.write(chunk(0));
      await writer.finish(DIGEST);
    };
    await assertRejects(write, StoreUnavailable);
    await assertRejects(() => writer.abandon(), StoreUnavailable);
    assertEquals(await allKeys(db), [keys.pending("v1")]);
  });
});

Deno.test("A writer whose bytes the sweeper has taken cannot continue", async () => {
  await withDatabase(async (db) => {
    await withClock(async () => {
      const writer = new ChunkWriter(db, PLACE, "v1", 160);
      await writeAll(writer, 13);
      await sweepElsewhere(db, WRITE_LEASE_TIME);
      await assertRejects(() => writer.finish(DIGEST), StoreUnavailable);
      await writer.abandon();
      await sweep(db);
      assertEquals(await allKeys(db), []);
    });
  });
});

Deno.test("A writer with slow chunks keeps its bytes", async () => {
  await withDatabase(async (db) => {
    await withClock(async (forward) => {
      const writer = new ChunkWriter(db, PLACE, "v1", 160);
      for (let n = 0; n < 5; n++) {
        await writeAll(writer, 12);
        forward(WRITE_LEASE_TIME * 2);
        await sweep(db);
      }
      await writeAll(writer, 12);
      (await writer.finish(DIGEST)).end();
      assertEquals((await readChunks(db, "v1")).length, 72);
    });
  });
});

Deno.test("Abandoned bytes are removed, also 70 MiB of them", async () => {
  await withDatabase(async (db) => {
    const count = 70 * 2 ** 20 / CHUNK_SIZE;
    const writer = new ChunkWriter(db, LONGEST, "v1", count);
    await writeAll(writer, count);
    (await writer.finish(DIGEST)).end();
    assertEquals((await readChunks(db, "v1")).length, count);
    await writer.abandon();
    await sweep(db);
    assertEquals(await allKeys(db), []);
  });
});

Deno.test("The sweeper is woken after a number of discarded bytes", () => {
  let wakes = 0;
  const discarded = new DiscardedBytes(() => wakes++);
  for (let i = 0; i < 6; i++) discarded.add(MAX_PAYLOAD);
  assertEquals(wakes, 0);
  discarded.add(MAX_PAYLOAD);
  assertEquals(wakes, 1);
  for (let i = 0; i < 14; i++) discarded.add(MAX_PAYLOAD);
  assertEquals(wakes, 3);
});

testOnAll("Failed parts wake the sweeper before they fill the disk", async (bench) => {
  const wakes = Promise.withResolvers<void>();
  bench.store.sweeper.wake = wakes.resolve;
  const part = { id: await upload(bench, place("a"), [CHUNK_SIZE]), part: 1, type: undefined };
  const broken = async function* () {
    yield bytes(2 * CHUNK_SIZE);
    throw new Error("The sender left");
  };
  for (let i = 0; i < 7; i++) {
    const announced = MAX_PAYLOAD;
    await assertRejects(() =>
      bench.store.uploads.putPart(place("a"), { ...part, announced }, broken(), () => {})
    );
  }
  await wakes.promise;
});

Deno.test("Discarded bytes start a sweep when they are as many as seven parts, and again after as many", () => {
  let sweeps = 0;
  const discarded = new DiscardedBytes(() => sweeps++);
  const counts = [64 * MIB - 1, 1, 64 * MIB - 1, 0, 1].map((size) => {
    discarded.add(size);
    return sweeps;
  });
  assertEquals(counts, [0, 1, 1, 1, 2]);
});

testOnAll(
  "A writer whose bytes were taken away fails at the latest when it publishes them",
  async (bench) => {
    const writer = new ChunkWriter(bench.db, PLACE, newVersion(), 160);
    await writer.write(bytes(CHUNK_SIZE));
    const key = keys.pending(writer.version);
    await until(async () => (await bench.db.reader.get(key)).versionstamp !== null);
    await deleteEntry(bench.db, key);
    const publish = async () => {
      const lease = await writer.finish(DIGEST);
      if (!(await bench.db.commit(lease.settle(new Operation()))).ok) throw leaseLost();
    };
    await assertRejects(publish, StoreUnavailable, "expired");
    await writer.abandon();
  },
);

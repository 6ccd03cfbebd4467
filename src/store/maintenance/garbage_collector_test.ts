import { assert, assertEquals, assertRejects } from "@std/assert";
import { GIB, HOUR, MIB } from "../../rules/units.ts";
import { MIN_PART } from "../../rules/payloads.ts";
import { DiskSpace } from "../disk/disk_space.ts";
import type { Commits, Outcome } from "../engine/commits.ts";
import { Database } from "../engine/database.ts";
import { identityOf, keys } from "../engine/keys.ts";
import { Operation } from "../engine/operation.ts";
import { CHUNK_SIZE } from "../engine/records.ts";
import { chunkCount } from "../bytes/chunks.ts";
import { addGarbage, GARBAGE_GRACE } from "../bytes/garbage.ts";
import { setManifest } from "../bytes/manifest.ts";
import { ChunkWriter } from "../bytes/receive.ts";
import { OpenVersions } from "../bytes/open_versions.ts";
import { newVersion } from "../bytes/versions.ts";
import { DEFAULT_UPLOAD_TTL, Store } from "../store.ts";
import { bytes, place } from "../testing/bodies.ts";
import { assertKeys, countReads, deleteEntry, keyKinds, setEntry } from "../testing/entries.ts";
import { put, read, upload } from "../testing/files.ts";
import {
  enders,
  lateGarbage,
  sharedParts,
  sweepLater,
  sweepLateWrites,
  testOnAll,
  type TestStore,
} from "../testing/stores.ts";
import { withClock } from "../testing/time.ts";
import { SWEEP_INTERVAL } from "./clocks.ts";
import { GarbageCollector } from "./garbage_collector.ts";

function fail(error: unknown): never {
  throw error;
}

testOnAll(
  "The bytes of a dead writer are deleted when its lease ends",
  async (bench) => {
    const writer = new ChunkWriter(bench.db, place("a"), newVersion(), 160);
    for (let i = 0; i < 30; i++) await writer.write(bytes(CHUNK_SIZE));
    (await writer.finish("A".repeat(43) + "=")).end();
    await bench.store.sweeper.sweep();
    assertEquals(await keyKinds(bench), { chunk: 30, pending: 1, lease: 1 });
    await sweepLater(bench);
    await assertKeys(bench, lateGarbage(bench));
    await sweepLateWrites(bench);
    await assertKeys(bench, {});
  },
);

testOnAll(
  "Deleting the bytes of a dead writer costs as much as it wrote, not as it announced",
  async (bench) => {
    const version = newVersion();
    const writer = new ChunkWriter(bench.db, place("a"), version, chunkCount(5 * GIB));
    for (let i = 0; i < 30; i++) await writer.write(bytes(CHUNK_SIZE));
    (await writer.finish("A".repeat(43) + "=")).end();
    // An earlier run was interrupted, and a commit of the writer was lost.
    for (const index of [0, 1, 2, 17]) await deleteEntry(bench.db, keys.chunk(version, index));
    const reads = await countReads(bench, () => sweepLater(bench));
    assert(reads < 40, `${reads} reads`);
    await assertKeys(bench, lateGarbage(bench));
  },
);

testOnAll(
  "Deleting a body of up to 5 TiB costs as much as the chunks that exist",
  async (bench) => {
    const version = newVersion();
    const part = () => ({ version: newVersion(), size: 5 * GIB, sha256: "" });
    const parts = Array.from({ length: 1000 }, part);
    const operation = new Operation();
    setManifest(operation, version, parts);
    addGarbage(operation, { kind: "manifest", ...place("a"), version }, 0);
    await bench.db.commit(operation);
    for (const [i, { version }] of parts.entries()) {
      if (i % 200 === 0) await setEntry(bench.db, keys.chunk(version, 81_919), bytes(CHUNK_SIZE));
    }
    await sweepLater(bench);
    await assertKeys(bench, {});
  },
);

const LARGE_FILES = {
  "a large file": { kind: "manifest" },
  "a large file that was copied": {
    kind: "reference",
    size: 400 * 10 * MIB,
    layout: { kind: "manifest", parts: 400 },
  },
} as const;

for (const [what, garbage] of Object.entries(LARGE_FILES)) {
  testOnAll(
    `Small garbage is deleted during the deletion of ${what}`,
    async (bench) => {
      const { db } = bench;
      const version = newVersion();
      const parts = Array.from({ length: 400 }, () => ({
        ...{ version: newVersion(), size: 10 * MIB, sha256: "" },
      }));
      const operation = new Operation();
      setManifest(operation, version, parts);
      addGarbage(operation, { ...garbage, ...place("large"), version }, 0);
      await db.commit(operation);
      const left: number[] = [];
      const { commitBytes } = db;
      db.commitBytes = async (...args) => {
        // A file is deleted while the large one is.
        if (left.length === 0) {
          await setEntry(db, keys.garbage(1, newVersion()), {
            ...{ kind: "entry", ...place(""), key: keys.completedUpload("p", "d", "x") },
          });
        }
        const entries = db.reader.list({ prefix: ["garbage", 1] });
        left.push((await Array.fromAsync(entries)).length);
        return await commitBytes.apply(db, args);
      };
      await bench.store.sweeper.sweep();
      const from = left.lastIndexOf(1);
      assert(from < left.length / 2, `It went in step ${from} of ${left.length}`);
      await assertKeys(bench, {});
    },
  );
}

testOnAll("An entry that cannot be deleted does not hold up the others", async (bench) => {
  await upload(bench, place("a"), [2 * CHUNK_SIZE]);
  await put(bench, "b", bytes(3 * CHUNK_SIZE));
  await bench.store.files.delete(place("b"));
  const end = () => Promise.reject(new TypeError("database disk image is malformed"));
  const collector = new GarbageCollector(bench.db, new OpenVersions(bench.db), enders(end));
  await assertRejects(() => collector.run(2 * DEFAULT_UPLOAD_TTL), TypeError, "malformed");
  assertEquals((await keyKinds(bench)).chunk, 2, "The chunks of the deleted file are left");
  await bench.store.sweeper.sweep(Date.now() + 2 * DEFAULT_UPLOAD_TTL);
  await assertKeys(bench, { "usage files": 1, "usage bytes": 1 });
});

testOnAll("Concurrent sweeps are harmless", async (bench) => {
  await put(bench, "a", bytes(20 * CHUNK_SIZE));
  await put(bench, "a", bytes(30 * CHUNK_SIZE, 2));
  await put(bench, "b", bytes(20 * CHUNK_SIZE));
  await bench.store.files.delete(place("b"));
  await Promise.all([sweepLater(bench), sweepLater(bench), sweepLater(bench)]);
  assertEquals(await read(bench, "a"), bytes(30 * CHUNK_SIZE, 2));
  await assertKeys(bench, { file: 1, chunk: 30, "usage files": 1, "usage bytes": 1 });
});

testOnAll("Replaced bytes stay for a while for readers in other processes", async (bench) => {
  await put(bench, "a", bytes(2 * CHUNK_SIZE));
  await put(bench, "a", bytes(3 * CHUNK_SIZE));
  await bench.store.sweeper.sweep();
  const counters = { file: 1, "usage files": 1, "usage bytes": 1 };
  await assertKeys(bench, { ...counters, chunk: 5, garbage: 1 });
  await sweepLater(bench);
  await assertKeys(bench, { ...counters, chunk: 3 });
});

testOnAll(
  "A jump of the clock does not delete replaced bytes early",
  async (bench) => {
    const swept = { file: 1, "usage files": 1, "usage bytes": 1 };
    const held = { ...swept, chunk: 5, garbage: 1 };
    const { sweeper } = bench.store;
    const sweepFor = async (forward: (ms: number) => void, time: number) => {
      for (let passed = 0; passed < time; passed += SWEEP_INTERVAL) {
        forward(SWEEP_INTERVAL);
        await sweeper.sweep();
      }
    };
    await withClock(async (forward, set) => {
      await sweeper.sweep();
      await put(bench, "a", bytes(2 * CHUNK_SIZE));
      await put(bench, "a", bytes(3 * CHUNK_SIZE));
      set(HOUR);
      await sweepFor(forward, GARBAGE_GRACE - SWEEP_INTERVAL);
      await assertKeys(bench, held);
      await sweepFor(forward, 2 * SWEEP_INTERVAL);
      await assertKeys(bench, { ...swept, chunk: 3 });
      // From then on the clock is trusted.
      await put(bench, "a", bytes(2 * CHUNK_SIZE));
      await sweepFor(forward, GARBAGE_GRACE + SWEEP_INTERVAL);
      await assertKeys(bench, { ...swept, chunk: 2 });
      // If it is set back, bytes are only deleted later.
      await put(bench, "a", bytes(3 * CHUNK_SIZE));
      set(-HOUR);
      await sweepFor(forward, GARBAGE_GRACE + SWEEP_INTERVAL);
      await assertKeys(bench, held);
      forward(HOUR);
      await sweepFor(forward, GARBAGE_GRACE + SWEEP_INTERVAL);
      await assertKeys(bench, { ...swept, chunk: 3 });
    });
  },
);

/** A database that counts the bulk commits of background work. */
class Counted extends Database {
  /** Those of chunks and checksums, and those of records. */
  byteCommits = 0;
  recordCommits = 0;
  /** Called before each of the first. */
  onBytes = (): void => {};

  override commitBytes(
    ...[operation, kind]: Parameters<Database["commitBytes"]>
  ): ReturnType<Database["commitBytes"]> {
    if (kind === "background") {
      this.byteCommits++;
      this.onBytes();
    }
    return super.commitBytes(operation, kind);
  }

  override commitBulk(operation: Operation): ReturnType<Database["commitBulk"]> {
    this.recordCommits++;
    return super.commitBulk(operation);
  }
}

function counted({ db: shared }: TestStore): TestStore & { db: Counted } {
  const db = new Counted(shared.reader, shared.commits, sharedParts(shared));
  return { db, store: new Store(db, { onError: fail }) };
}

testOnAll("Many replaced versions are deleted in few commits", async (bench) => {
  for (let i = 0; i < 101; i++) await put(bench, "a", bytes(2 * CHUNK_SIZE, i));
  const sweeping = counted(bench);
  await sweepLater(sweeping);
  await assertKeys(bench, { file: 1, chunk: 2, "usage files": 1, "usage bytes": 1 });
  const { byteCommits, recordCommits } = sweeping.db;
  assert(byteCommits <= 5 && recordCommits <= 5, `${byteCommits} and ${recordCommits} commits`);
});

testOnAll("Garbage collection does not wait for uploads", async (bench) => {
  await put(bench, "a", bytes(20 * CHUNK_SIZE));
  await bench.store.files.delete(place("a"));
  const gate = Promise.withResolvers<void>();
  const held = keys.chunk("held", 0);
  const holding = (commits: Commits): Commits => {
    const hold = async (operation: Operation): Promise<Outcome> => {
      if (operation.touched.has(identityOf(held))) await gate.promise;
      return await commits.once(operation);
    };
    return { ...commits, once: hold, idempotent: hold };
  };
  const { bytes: shared } = sharedParts(bench.db);
  const db = new Database(bench.db.reader, holding(bench.db.commits), {
    bytes: shared && { ...shared, commits: holding(shared.commits) },
  });
  const uploads = Array.from({ length: 50 }, () => {
    return db.commitBytes(new Operation().set(held, new Uint8Array(1)));
  });
  await sweepLater({ db, store: new Store(db, { onError: fail }) });
  gate.resolve();
  await Promise.all(uploads);
  await assertKeys(bench, { chunk: 1, "usage files": 1, "usage bytes": 1 });
});

testOnAll(
  "A sweep stops after its current batch, even within a file",
  async (bench) => {
    const id = await upload(bench, place("a"), [MIN_PART, MIN_PART, MIN_PART]);
    await bench.store.uploads.complete(place("a"), id, () => true);
    await bench.store.files.delete(place("a"));
    const stopping = counted(bench);
    let stopped: Promise<void> | undefined;
    stopping.db.onBytes = () => void (stopped ??= stopping.store.sweeper.stop());
    await sweepLater(stopping);
    await stopped;
    assertEquals(stopping.db.byteCommits, 1);
    const { chunk = 0, manifest } = await keyKinds(bench);
    assert(chunk > 100, `${chunk} chunks are left`);
    assertEquals(manifest, 1);
    await sweepLater(bench);
    await assertKeys(bench, { completed_upload: 1, "usage files": 1, "usage bytes": 1 });
  },
);

testOnAll(
  "On a short disk replaced bytes go at once, and open uploads stay open",
  async (bench) => {
    await withClock(async (forward) => {
      const id = await upload(bench, place("b"), [10]);
      forward(DEFAULT_UPLOAD_TTL - GARBAGE_GRACE / 2);
      await put(bench, "a", bytes(2 * CHUNK_SIZE));
      await bench.store.files.delete(place("a"));
      const ended: string[] = [];
      const end = ({ value }: { value: { id: string } }) => {
        ended.push(value.id);
        return Promise.resolve(true);
      };
      const disk = new DiskSpace(() => Promise.resolve(0), 0);
      const collector = new GarbageCollector(bench.db, new OpenVersions(bench.db), {
        ...enders(end),
        disk,
      });
      await collector.run();
      assertEquals([ended, (await keyKinds(bench)).chunk], [[], 1]);
      forward(GARBAGE_GRACE);
      await collector.run();
      assertEquals(ended, [id]);
    });
  },
);

/** A database whose bulk commits fail after some of each kind. */
class Killed extends Database {
  constructor(shared: Database, private readonly left: { bytes: number; records: number }) {
    super(shared.reader, shared.commits, sharedParts(shared));
  }

  override commitBytes(
    ...args: Parameters<Database["commitBytes"]>
  ): ReturnType<Database["commitBytes"]> {
    return this.left.bytes-- > 0 ? super.commitBytes(...args) : Promise.reject(new Error("Killed"));
  }

  override commitBulk(operation: Operation): ReturnType<Database["commitBulk"]> {
    return this.left.records-- > 0
      ? super.commitBulk(operation)
      : Promise.reject(new Error("Killed"));
  }
}

/** Sweeps in a process that is killed after some commits. Returns whether it was. */
async function sweepKilled(
  bench: TestStore,
  left: { bytes: number; records: number },
): Promise<boolean> {
  const db = new Killed(bench.db, left);
  try {
    await sweepLater({ db, store: new Store(db, { onError: fail }) });
    return false;
  } catch (error) {
    assert(error instanceof Error && error.message === "Killed", String(error));
    return true;
  }
}

/** Stores a file of 30 chunks, and garbage of each kind that has bytes. */
async function putGarbage(bench: TestStore): Promise<void> {
  await put(bench, "a", bytes(20 * CHUNK_SIZE));
  await put(bench, "a", bytes(30 * CHUNK_SIZE, 2));
  await put(bench, "b", bytes(3 * CHUNK_SIZE));
  const id = await upload(bench, place("c"), [MIN_PART, MIN_PART, MIN_PART]);
  await bench.store.uploads.complete(place("c"), id, () => true);
  for (const name of ["b", "c"]) await bench.store.files.delete(place(name));
}

async function assertCollected(bench: TestStore): Promise<void> {
  assertEquals(await read(bench, "a"), bytes(30 * CHUNK_SIZE, 2));
  const counters = { "usage files": 1, "usage bytes": 1, completed_upload: 1 };
  await assertKeys(bench, { ...counters, file: 1, chunk: 30 });
}

testOnAll("Bytes are deleted before the records that name them", async (bench) => {
  await putGarbage(bench);
  const before = await keyKinds(bench);
  assert(await sweepKilled(bench, { bytes: 0, records: Infinity }));
  assertEquals(await keyKinds(bench), before);
  assert(await sweepKilled(bench, { bytes: Infinity, records: 0 }));
  // The bytes of large garbage come later.
  const chunk = 30 + 3 * chunkCount(MIN_PART);
  assertEquals(await keyKinds(bench), { ...before, chunk });
  await sweepLater(bench);
  await assertCollected(bench);
});

for (const kind of ["bytes", "records"] as const) {
  testOnAll(
    `A run that is killed after any number of commits of ${kind} is ended by the next ones`,
    async (bench) => {
      await putGarbage(bench);
      for (
        let n = 0;
        await sweepKilled(bench, { bytes: Infinity, records: Infinity, [kind]: n });
        n++
      ) {
        assert(n < 20, `${n} commits did not end it`);
        assertEquals(await read(bench, "a"), bytes(30 * CHUNK_SIZE, 2));
        assert((await keyKinds(bench))["garbage"] !== undefined, "Something names the rest");
      }
      await assertCollected(bench);
    },
  );
}

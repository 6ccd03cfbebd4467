import { assert, assertEquals, assertRejects } from "@std/assert";
import { MAX_PAYLOAD } from "../../rules/payloads.ts";
import { Database } from "../engine/database.ts";
import { StoreDamaged, StoreUnavailable } from "../engine/errors.ts";
import { keys } from "../engine/keys.ts";
import type { KvReader } from "../reads/read_queue.ts";
import type { Operation } from "../engine/operation.ts";
import { CHUNK_SIZE } from "../engine/records.ts";
import { ANYWAY, broken, bytes, inPieces, place } from "../testing/bodies.ts";
import {
  assertKeys,
  assertUsage,
  deleteEntry,
  readSeparately,
  setEntry,
} from "../testing/entries.ts";
import { put, read, recordOf } from "../testing/files.ts";
import {
  otherProcess,
  sharedParts,
  sweepElsewhere,
  sweepLater,
  sweepLateWrites,
  testOnAll,
  type TestStore,
} from "../testing/stores.ts";
import { withClock } from "../testing/time.ts";

const SMALL = { file: 1, content: 1, "usage files": 1, "usage bytes": 1 };

const SIZES: { size: number; keys: Record<string, number> }[] = [
  { size: 0, keys: { file: 1, content: 1, "usage files": 1 } },
  { size: 1, keys: SMALL },
  { size: CHUNK_SIZE - 1, keys: SMALL },
  { size: CHUNK_SIZE, keys: SMALL },
  { size: CHUNK_SIZE + 1, keys: { file: 1, chunk: 2, "usage files": 1, "usage bytes": 1 } },
  { size: 12 * CHUNK_SIZE - 1, keys: { file: 1, chunk: 12, "usage files": 1, "usage bytes": 1 } },
  { size: 12 * CHUNK_SIZE + 1, keys: { file: 1, chunk: 13, "usage files": 1, "usage bytes": 1 } },
  { size: MAX_PAYLOAD, keys: { file: 1, chunk: 160, "usage files": 1, "usage bytes": 1 } },
];

for (const { size, keys: expected } of SIZES) {
  testOnAll(
    `A file of ${size} bytes is read as it was written and deleted completely`,
    async (bench) => {
      const data = bytes(size);
      const record = await put(bench, "a", data);
      assertEquals(record.size, size);
      assertEquals(await read(bench, "a"), data);
      await assertKeys(bench, expected);
      assert(await bench.store.files.delete(place("a")));
      assertEquals(await read(bench, "a"), undefined);
      await sweepLater(bench);
      const bytesCounter: Record<string, number> = size === 0 ? {} : { "usage bytes": 1 };
      await assertKeys(bench, { "usage files": 1, ...bytesCounter });
      await assertUsage(bench, { files: 0, bytes: 0 });
    },
  );
}

for (const before of [10, 3 * CHUNK_SIZE]) {
  for (const after of [20, 2 * CHUNK_SIZE]) {
    testOnAll(
      `A file of ${before} bytes is completely replaced by one of ${after} bytes`,
      async (bench) => {
        const first = await put(bench, "a", bytes(before));
        const second = await put(bench, "a", bytes(after, 2));
        assert(second.version > first.version, "Versions are ordered by time");
        assertEquals(second.created, first.created);
        assertEquals(await read(bench, "a"), bytes(after, 2));
        await sweepLater(bench);
        const layout: Record<string, number> = after > CHUNK_SIZE
          ? { chunk: after / CHUNK_SIZE }
          : { content: 1 };
        await assertKeys(bench, { file: 1, "usage files": 1, "usage bytes": 1, ...layout });
        await assertUsage(bench, { files: 1, bytes: after });
      },
    );
  }
}

const FAILURES: { name: string; size: number }[] = [
  { name: "early", size: 100 },
  { name: "after the first chunks", size: 3 * CHUNK_SIZE },
  { name: "after many commits", size: 50 * CHUNK_SIZE },
];

for (const { name, size } of FAILURES) {
  testOnAll(`A body that fails ${name} leaves the previous version and no bytes`, async (bench) => {
    await put(bench, "a", bytes(10));
    await assertRejects(
      () => bench.store.files.put(place("a"), broken(size), ANYWAY),
      Error,
      "The sender left",
    );
    assertEquals(await read(bench, "a"), bytes(10));
    await sweepLater(bench);
    await assertKeys(bench, SMALL);
    await assertUsage(bench, { files: 1, bytes: 10 });
  });
}

testOnAll("A rejected body leaves nothing behind", async (bench) => {
  const accept = () => {
    throw new Error("Another digest");
  };
  for (const size of [10, 3 * CHUNK_SIZE]) {
    const refused = () =>
      bench.store.files.put(place("a"), inPieces(bytes(size)), { ...ANYWAY, accept });
    await assertRejects(refused, Error, "Another digest");
  }
  await sweepLater(bench);
  await assertKeys(bench, {});
});

testOnAll("A write with an unmet condition changes nothing", async (bench) => {
  await put(bench, "a", bytes(10));
  for (const size of [20, 3 * CHUNK_SIZE]) {
    const body = inPieces(bytes(size));
    const condition = () => false;
    const refused = await bench.store.files.put(place("a"), body, { ...ANYWAY, condition });
    assertEquals(refused, "refused");
  }
  await sweepLater(bench);
  assertEquals(await read(bench, "a"), bytes(10));
  await assertKeys(bench, SMALL);
});

testOnAll("A body that is rejected after some time is not stored", async (bench) => {
  const accept = async () => {
    await Promise.resolve();
    throw new Error("revoked");
  };
  const write = () => bench.store.files.put(place("a"), inPieces(bytes(10)), { ...ANYWAY, accept });
  await assertRejects(write, Error, "revoked");
  assertEquals(await read(bench, "a"), undefined);
});

testOnAll("A file that is closed before its reading begins keeps no memory", async (bench) => {
  await put(bench, "a", bytes(3 * CHUNK_SIZE));
  const { downloads } = bench.store.memory;
  const before = downloads.used;
  const file = await bench.store.files.reader.open(place("a"));
  const reading = file?.read({ start: 0, end: 1 });
  file?.close();
  await reading;
  assertEquals(downloads.used, before);
});

testOnAll("The next sweep deletes the bytes of a large body that was refused", async (bench) => {
  const options = { ...ANYWAY, condition: () => false };
  const body = inPieces(bytes(3 * CHUNK_SIZE));
  assertEquals(await bench.store.files.put(place("a"), body, options), "refused");
  await bench.store.sweeper.sweep();
  await assertKeys(bench, {});
});

testOnAll(
  "A file that another process overwrites during a delete is deleted in its new version",
  async (bench) => {
    await put(bench, "a", bytes(10));
    const { db, store } = bench;
    const other = otherProcess(bench);
    const commit = db.commit.bind(db);
    let isFirst = true;
    db.commit = async (operation) => {
      if (isFirst) {
        isFirst = false;
        await put(other, "a", bytes(3 * CHUNK_SIZE));
      }
      return await commit(operation);
    };
    assertEquals(await store.files.delete(place("a")), true);
    assertEquals(await read(bench, "a"), undefined);
    await assertUsage(bench, { files: 0, bytes: 0 });
    await sweepLater(bench);
    await assertKeys(bench, { "usage files": 1, "usage bytes": 1 });
  },
);

testOnAll(
  "Concurrent writes of one name leave one complete file and exact counters",
  async (bench) => {
    const sizes = Array.from({ length: 30 }, (_, i) => i % 3 === 0 ? 2 * CHUNK_SIZE + i : i + 1);
    await Promise.all(sizes.map((size) => put(bench, "a", bytes(size, size))));
    const size = (await read(bench, "a"))?.byteLength ?? 0;
    assert(sizes.includes(size));
    assertEquals(await read(bench, "a"), bytes(size, size));
    await sweepLater(bench);
    await assertUsage(bench, { files: 1, bytes: size });
    const layout: Record<string, number> = size > CHUNK_SIZE ? { chunk: 3 } : { content: 1 };
    await assertKeys(bench, { file: 1, "usage files": 1, "usage bytes": 1, ...layout });
  },
);

testOnAll(
  "Concurrent writes and deletes of many names are counted exactly",
  async (bench) => {
    const names = Array.from({ length: 200 }, (_, i) => `n${i}`);
    await Promise.all(names.map((name, i) => put(bench, name, bytes(i))));
    await assertUsage(bench, { files: 200, bytes: 199 * 100 });
    await Promise.all(names.map((name) => bench.store.files.delete(place(name))));
    await assertUsage(bench, { files: 0, bytes: 0 });
    await assertKeys(bench, { "usage files": 1, "usage bytes": 1 });
  },
);

testOnAll("A concurrent write and delete leaves a complete file or nothing", async (bench) => {
  for (let round = 0; round < 20; round++) {
    const size = round % 2 === 0 ? 10 : 2 * CHUNK_SIZE;
    await Promise.all([put(bench, "a", bytes(size)), bench.store.files.delete(place("a"))]);
    const data = await read(bench, "a");
    const expected = data === undefined ? { files: 0, bytes: 0 } : { files: 1, bytes: size };
    await assertUsage(bench, expected);
    await bench.store.files.delete(place("a"));
  }
  await sweepLater(bench);
  await assertKeys(bench, { "usage files": 1, "usage bytes": 1 });
});

testOnAll(
  "A reader gets its version to the end, although the file is overwritten and deleted",
  async (bench) => {
    const data = bytes(40 * CHUNK_SIZE);
    await put(bench, "a", data);
    const file = await bench.store.files.reader.open(place("a"));
    assert(file !== undefined);
    const pieces = await file.read({ start: 0, end: data.byteLength });
    const first = await pieces[Symbol.asyncIterator]().next();
    assertEquals(first.done, false);
    await put(bench, "a", bytes(5, 2));
    await bench.store.files.delete(place("a"));
    await sweepLater(bench);
    const rest = await Array.fromAsync(pieces);
    const received = await new Blob([first.value, ...rest]).arrayBuffer();
    assertEquals(new Uint8Array(received), data);
    file.close();
    await sweepLater(bench);
    await assertKeys(bench, { "usage files": 1, "usage bytes": 1 });
  },
);

testOnAll(
  "A missing or short chunk ends the download before any byte after it",
  async (bench) => {
    const { version, size } = await put(bench, "a", bytes(40 * CHUNK_SIZE));
    const layoutVersion = await chunkVersion(bench.db.bytes.reader);
    for (const index of [0, 17, 39]) {
      const key = keys.chunk(layoutVersion, index);
      const { value } = await bench.db.bytes.reader.get<Uint8Array>(key);
      await setEntry(bench.db, key, new Uint8Array(CHUNK_SIZE - 1));
      await assertRejects(() => read(bench, "a"), StoreDamaged);
      await deleteEntry(bench.db, key);
      await assertRejects(() => read(bench, "a"), StoreDamaged);
      await setEntry(bench.db, key, value);
    }
    assertEquals(await read(bench, "a"), bytes(size));
    assert(version > layoutVersion, "The bytes are written before the file is made of them");
  },
);

testOnAll(
  "The modification time increases even if the clock is set back",
  async (bench) => {
    await withClock(async (forward, set) => {
      const first = await put(bench, "a", bytes(1));
      set(-3_600_000);
      const second = await put(bench, "a", bytes(2));
      const third = await put(bench, "a", bytes(3));
      assertEquals([second.modified, third.modified], [
        first.modified + 1000,
        first.modified + 2000,
      ]);
      assertEquals([second.sameSecond, third.sameSecond], [undefined, undefined]);
      assert(first.version < second.version && second.version < third.version);
      forward(3_600_000 + 5000);
      const last = await put(bench, "a", bytes(4));
      assertEquals([last.modified, last.created], [Date.now(), first.created]);
      // A date one year in the future was written by a wrong clock.
      set(-365 * 24 * 3_600_000);
      assertEquals((await put(bench, "a", bytes(5))).modified, Date.now());
    });
  },
);

testOnAll("Bytes that the sweeper has taken cannot be published", async (bench) => {
  const body = async function* (): AsyncGenerator<Uint8Array> {
    yield* inPieces(bytes(20 * CHUNK_SIZE));
    await sweepElsewhere(bench);
  };
  await assertRejects(
    () => bench.store.files.put(place("a"), body(), ANYWAY),
    StoreUnavailable,
  );
  await sweepLater(bench);
  assertEquals(await read(bench, "a"), undefined);
  await sweepLateWrites(bench);
  await assertKeys(bench, {});
});

/** A database in which another file `a` exists just during the first commit of the file `a`. */
class Crossed extends Database {
  crossings = 0;

  constructor(private readonly bench: TestStore) {
    super(bench.db.reader, bench.db.commits, sharedParts(bench.db));
  }

  override async commit(operation: Operation): ReturnType<Database["commit"]> {
    const isFile = operation.touched.has(JSON.stringify(keys.file(place("a"))));
    if (!isFile || this.crossings > 0) return await super.commit(operation);
    this.crossings++;
    await put(this.bench, "a", bytes(5));
    const outcome = await super.commit(operation);
    await this.bench.store.files.delete(place("a"));
    return outcome;
  }
}

testOnAll(
  "A file that is created and deleted during a write does not make the write fail",
  async (bench) => {
    for (const size of [10, 3 * CHUNK_SIZE]) {
      const db = new Crossed(bench);
      const record = await put(otherProcess({ ...bench, db }), "a", bytes(size, 2));
      assertEquals([record.size, await read(bench, "a")], [size, bytes(size, 2)]);
      assertEquals(db.crossings, 1);
      await bench.store.files.delete(place("a"));
    }
    await sweepLater(bench);
    await assertKeys(bench, { "usage files": 1, "usage bytes": 1 });
  },
);

/** Runs a function between the first reads of a record and of its content, for which a remote store has the time. */
function beforeContent({ db }: TestStore, happens: () => Promise<unknown>): void {
  const { getReferenced } = db.reads;
  readSeparately(db, async () => {
    db.reads.getReferenced = getReferenced;
    await happens();
  });
}

for (const [what, after] of [["a small", 20], ["a large", 3 * CHUNK_SIZE]] as const) {
  testOnAll(
    `A small file that ${what} one replaces between the reads of its record and content is the new one`,
    async (bench) => {
      await put(bench, "a", bytes(10));
      beforeContent(bench, () => put(otherProcess(bench), "a", bytes(after, 2)));
      const file = await bench.store.files.reader.open(place("a"));
      assertEquals(file?.record, await recordOf(bench, "a"));
      file?.close();
      assertEquals(await read(bench, "a"), bytes(after, 2));
    },
  );
}

testOnAll(
  "A small file that is deleted between the reads of its record and content is absent",
  async (bench) => {
    await put(bench, "a", bytes(10));
    beforeContent(bench, () => otherProcess(bench).store.files.delete(place("a")));
    assertEquals(await bench.store.files.reader.open(place("a")), undefined);
  },
);

async function chunkVersion(kv: KvReader): Promise<string> {
  for await (const { key } of kv.list({ prefix: ["chunk"] }, { limit: 1 })) return String(key[1]);
  throw new Error("There is no chunk");
}

testOnAll("A version that replaces another of the same second is marked", async (bench) => {
  await withClock(async (forward) => {
    const marks: unknown[] = [];
    for (let i = 0; i < 3; i++) {
      marks.push((await put(bench, "a", bytes(1))).sameSecond);
      if (i === 1) forward(1000);
    }
    assertEquals(marks, [undefined, true, undefined]);
  });
});

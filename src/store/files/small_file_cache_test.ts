import { assert, assertEquals } from "@std/assert";
import { setImmediate } from "node:timers";
import { ChangeProbe } from "../disk/file_probes.ts";
import type { Database } from "../engine/database.ts";
import { openDatabase } from "../engine/database_file.ts";
import { databasePath } from "../disk/store_files.ts";
import type { CacheMemory } from "../engine/memory_budget.ts";
import { Operation } from "../engine/operation.ts";
import type { ReferenceOf } from "../reads/read_queue.ts";
import { Store } from "../store.ts";
import { bytes, DRIVE, place } from "../testing/bodies.ts";
import { put, read } from "../testing/files.ts";
import { type TestStore, withFolder } from "../testing/stores.ts";
import { type FoundFile, SmallFileCache } from "./small_file_cache.ts";

/** Returns a file with a number of bytes. */
function fileOf(size: number): FoundFile {
  const layout = { kind: "inline" } as const;
  const record = { version: "1", size, type: "text/plain", created: 0, modified: 0, layout };
  return { record, content: new Uint8Array(size) };
}

function benchOn(db: Database): TestStore {
  return { db, store: new Store(db, { onError: () => {} }) };
}

function memory(): CacheMemory {
  return { limit: 2 ** 20, used: 0 };
}

Deno.test("The state changes with each commit of any connection, and only then", async () => {
  await withFolder(async (folder) => {
    const here = await openDatabase(folder);
    const there = await openDatabase(folder);
    using probe = new ChangeProbe(databasePath(folder));
    const states = [probe.state()];
    for (const database of [here, there, here]) {
      assertEquals(probe.state(), states.at(-1));
      await database.commit(new Operation().set(["a"], states.length));
      states.push(probe.state());
    }
    assertEquals(new Set(states).size, 4);
    await here.reader.get(["a"]);
    assertEquals(probe.state(), states.at(-1));
    await there.close();
    await here.close();
  });
});

Deno.test("A cached file is never older than the last commit of any process", async () => {
  await withFolder(async (folder) => {
    const database = await openDatabase(folder);
    const here = benchOn(database);
    const there = benchOn(await openDatabase(folder));
    await here.store.projects.create(DRIVE.project, undefined);
    for (const [round, writer] of [here, there, here, there].entries()) {
      await put(writer, "a", bytes(100, round));
      for (const reader of [here, there, here, there]) {
        assertEquals(await read(reader, "a"), bytes(100, round));
      }
    }
    await there.store.files.delete(place("a"));
    assertEquals(await read(here, "a"), undefined);
    await there.store.close();
    await here.store.close();
  });
});

Deno.test("An unchanged small file is read from the store once", async () => {
  await withFolder(async (folder) => {
    const database = await openDatabase(folder);
    const bench = benchOn(database);
    await bench.store.projects.create(DRIVE.project, undefined);
    await put(bench, "a", bytes(100));
    await read(bench, "a");
    const get = database.reads.get;
    database.reads.get = () => Promise.reject(new Error("The store was read"));
    assertEquals(await read(bench, "a"), bytes(100));
    database.reads.get = get;
    await put(bench, "a", bytes(100, 1));
    assertEquals(await read(bench, "a"), bytes(100, 1));
    await bench.store.close();
  });
});

Deno.test("A file is not cached if the store changed during the read", async () => {
  await withFolder(async (folder) => {
    const database = await openDatabase(folder);
    const files = new SmallFileCache(database.changes, memory());
    let reads = 0;
    const read = async () => {
      reads++;
      if (reads === 1) await database.commit(new Operation().set(["a"], 1));
      return fileOf(1);
    };
    for (const expected of [1, 2, 2]) {
      await files.get("a", read);
      assertEquals(reads, expected);
    }
    await database.close();
  });
});

Deno.test("Concurrent requests for a file share a read, which begins after all of them", async () => {
  const files = new SmallFileCache(undefined, memory());
  const asked: string[] = [];
  const ask = (id: string) =>
    files.get(id, () => {
      asked.push(id);
      return Promise.resolve(undefined);
    });
  const first = [ask("a"), ask("b"), ask("a")];
  assertEquals(asked, []);
  await Promise.all(first);
  assertEquals(asked, ["a", "b"]);
  // A read that has begun may be too old for a later request.
  await Promise.all([ask("a"), new Promise(setImmediate).then(() => ask("a"))]);
  assertEquals(asked, ["a", "b", "a", "a"]);
});

Deno.test("A failed read fails for all its callers, and the next caller reads again", async () => {
  const files = new SmallFileCache(undefined, memory());
  const fail = () => Promise.reject(new Error("The store is away"));
  const results = await Promise.allSettled([files.get("a", fail), files.get("a", fail)]);
  assertEquals(results.map(({ status }) => status), ["rejected", "rejected"]);
  assertEquals(await files.get("a", () => Promise.resolve(fileOf(1))), fileOf(1));
});

Deno.test("The cache stays within its memory, and keeps the files that were used last", async () => {
  const kept = memory();
  const files = new SmallFileCache(undefined, kept);
  const size = 64 * 1024;
  const known: (number | undefined)[] = [];
  const read = (i: number) =>
    files.get(`${i}`, (before) => {
      known[i] = before?.record.size;
      return Promise.resolve(fileOf(size));
    });
  const count = 2 * kept.limit / size;
  for (let i = 1; i <= count; i++) {
    await read(i);
    await read(0);
    assert(kept.used > 0 && kept.used <= kept.limit);
    assertEquals(known[0], i === 1 ? undefined : size);
  }
  for (const [i, isKept] of [[1, false], [count, true]] as const) {
    await read(i);
    assertEquals(known[i] !== undefined, isKept);
  }
});

Deno.test("A file that is gone, or too large to keep, takes no memory", async () => {
  const kept = memory();
  const files = new SmallFileCache(undefined, kept);
  await files.get("a", () => Promise.resolve(fileOf(10)));
  assert(kept.used > 10);
  await files.get("a", () => Promise.resolve(undefined));
  assertEquals(kept.used, 0);
  await files.get("a", () => Promise.resolve(fileOf(kept.limit)));
  assertEquals(kept.used, 0);
});

Deno.test("After a commit the record of a file is read again, and its bytes only if they changed", async () => {
  await withFolder(async (folder) => {
    const database = await openDatabase(folder);
    const bench = benchOn(database);
    await bench.store.projects.create(DRIVE.project, undefined);
    const contents: boolean[] = [];
    const getReferenced = database.reads.getReferenced.bind(database.reads);
    database.reads.getReferenced = async <T, R>(key: Deno.KvKey, referenceOf: ReferenceOf<T>) => {
      const found = await getReferenced<T, R>(key, referenceOf);
      contents.push(found[1] !== undefined);
      return found;
    };
    await put(bench, "a", bytes(100));
    assertEquals(await read(bench, "a"), bytes(100));
    await put(bench, "b", bytes(100));
    assertEquals(await read(bench, "a"), bytes(100));
    assertEquals(contents, [true, false]);
    await put(bench, "a", bytes(100, 1));
    assertEquals(await read(bench, "a"), bytes(100, 1));
    assertEquals(contents, [true, false, true]);
    await bench.store.close();
  });
});

Deno.test("A file that was read while the store changed is read again", async () => {
  let state = 1;
  const cache = new SmallFileCache({ state: () => state } as unknown as ChangeProbe, memory());
  const { promise, resolve } = Promise.withResolvers<FoundFile>();
  const first = cache.get("a", () => promise);
  await new Promise((turn) => setImmediate(turn));
  state = 2;
  await cache.get("b", () => Promise.resolve(fileOf(1)));
  resolve(fileOf(10));
  assertEquals((await first)?.record.size, 10);
  assertEquals((await cache.get("a", () => Promise.resolve(fileOf(20))))?.record.size, 20);
});

import { assert, assertEquals, assertRejects } from "@std/assert";
import { DatabaseSync } from "node:sqlite";
import { setImmediate } from "node:timers";
import { withFolder } from "../testing/stores.ts";
import { encodeKey } from "./kv_encoding.ts";
import {
  type EntryReader,
  type KvReader,
  type ListOptions,
  readAround,
  readNames,
  ReadQueue,
  readReferenced,
} from "./read_queue.ts";
import { recordReader, sealValue, UnreadableEntries } from "./record_codec.ts";
import { isKnownSchema, SqliteReader } from "./sqlite_reader.ts";
import { ThreadReader } from "./thread_reader.ts";

/** Keys and values of every kind that the store writes, in the order of the keys. */
const ENTRIES: readonly [Deno.KvKey, unknown][] = [
  [["a"], { text: "é😀", list: [1, 2, 3], bytes: new Uint8Array([1, 2]) }],
  [["a", ""], "text"],
  [["a", "\0"], 7],
  [["a", "b"], new Uint8Array(70_000).fill(3)],
  [["a", "b", 1], new Uint8Array(0)],
  [["a", "b", 2], null],
  [["a", "\ufeffb"], 1],
  [["a", "bb"], true],
  [["a", -1], -1.5],
  [["a", 0], 0],
  [["a", 1], new Uint8Array(1)],
  [["b", "x"], []],
  [["chunk", 0], new Uint8Array(10)],
  [["chunk", 1], new Uint8Array(11)],
  [["chunk", 2], new Uint8Array(12)],
];

function readerOf(path: string, kv: KvReader, isMapped: boolean): SqliteReader {
  const unreadable = new UnreadableEntries();
  return new SqliteReader(path, recordReader(kv, unreadable), { isMapped, unreadable });
}

async function withReader(
  test: (reader: SqliteReader, kv: Deno.Kv, path: string) => Promise<void>,
): Promise<void> {
  await withFolder(async (folder) => {
    const path = `${folder}/store.db`;
    using kv = await Deno.openKv(path);
    for (const [key, value] of ENTRIES) {
      // Deno KV takes no entries of 64 KiB.
      const stored = value instanceof Uint8Array ? value.subarray(0, 65_536) : value;
      await kv.set(key, sealValue(stored));
    }
    await kv.atomic().sum(["u"], 2n ** 63n).commit();
    using reader = readerOf(path, kv, true);
    await test(reader, kv, path);
  });
}

/** Replaces the clock. Each time it is read, `slow` has been called. */
function stub(clock: Performance, read: () => number) {
  const { now } = clock;
  let advance = () => {};
  clock.now = () => {
    const time = read();
    advance();
    return time;
  };
  return {
    slow: (by: () => void) => void (advance = by),
    restore: () => void (clock.now = now),
  };
}

const SELECTORS: readonly [Deno.KvListSelector, Deno.KvListOptions?][] = [
  [{ prefix: [] }],
  [{ prefix: [] }, { reverse: true }],
  [{ prefix: ["a"] }],
  [{ prefix: ["a"] }, { batchSize: 1 }],
  [{ prefix: ["a"] }, { batchSize: 3, reverse: true }],
  [{ prefix: ["a"] }, { limit: 4, batchSize: 3 }],
  [{ prefix: ["a"] }, { limit: 4, batchSize: 3, reverse: true }],
  [{ prefix: ["a"] }, { limit: 500 }],
  [{ prefix: ["a"], start: ["a", "b"] }],
  [{ prefix: ["a"], end: ["a", "b"] }],
  [{ prefix: ["a", "b"] }],
  [{ prefix: ["none"] }],
  [{ start: ["a", "b"], end: ["a", "bb"] }],
  [{ start: ["a", "b"], end: ["a", 1] }, { reverse: true, batchSize: 2 }],
  [{ start: ["chunk", 0], end: ["chunk", 2] }, { batchSize: 2 }],
];

Deno.test("Every read returns what Deno KV returns", async () => {
  await withReader(async (reader, raw) => {
    const kv = recordReader(raw, new UnreadableEntries());
    const keys: Deno.KvKey[] = [...ENTRIES.map(([key]) => key), ["u"], ["absent"]];
    for (const key of keys) assertEquals(await reader.get(key), await kv.get(key));
    for (const some of [keys.slice(0, 1), keys.slice(0, 10).reverse(), keys.slice(5, 15), []]) {
      assertEquals(await reader.getMany(some), await kv.getMany(some));
    }
    for (const [selector, options] of SELECTORS) {
      const read = (from: KvReader) => Array.fromAsync(from.list(selector, options));
      assertEquals(await read(reader), await read(kv), JSON.stringify([selector, options]));
    }
  });
});

Deno.test("Entries around a name are what Deno KV returns", async () => {
  await withReader(async (reader, raw) => {
    const kv = recordReader(raw, new UnreadableEntries());
    const some = { start: ["a", "b"], end: ["a", "bb"] };
    const none = { start: ["x"], end: ["y"] };
    const cases = [[["a"], none, true], [["no"], some, true], [["no"], none, false]] as const;
    for (const [key, range, isAny] of cases) {
      const around = await readAround(reader, [key, ["u"]], [none, range]);
      assertEquals(around, await readAround(kv, [key, ["u"]], [none, range]));
      assertEquals(around[1], isAny);
    }
  });
});

Deno.test("Names are listed without their values, in the order of their bytes", async () => {
  await withReader(async (reader, kv) => {
    const names = ["", "a", "a\u0001", "a/b", "ab", "e\u0301", "é", "\ufeffb", "\uffff", "😀"];
    for (const name of names.toReversed()) await kv.set(["name", "x", name], name);
    await kv.set(["name", "y", "other"], 1);
    const range = (from: string) => ({ start: ["name", "x", from], end: ["name", "x", 0] });
    for (const [from, limit] of [["", 100], ["", 3], ["a/", 2], ["é", 1], ["😀b", 9]] as const) {
      const expected = names.slice(Math.max(0, names.findIndex((name) => name >= from)));
      const wanted = from === "😀b" ? [] : expected.slice(0, limit);
      for (const source of [reader, kv]) {
        const read = await readNames(source, range(from), limit);
        assertEquals(read, wanted.map((name) => `${name}\0`).join(""));
      }
    }
  });
});

Deno.test("A key that is asked for twice is returned twice", async () => {
  await withReader(async (reader) => {
    const [first, second] = await reader.getMany([["a", 0], ["a", 0]]);
    assertEquals(first, second);
    assertEquals(first?.value, 0);
  });
});

Deno.test("A read sees each commit that was answered before it, also those of another connection", async () => {
  await withReader(async (reader, kv, path) => {
    using other = await Deno.openKv(path);
    for (let i = 0; i < 200; i++) {
      await (i % 2 === 0 ? kv : other).set(["n"], i);
      assertEquals((await reader.get(["n"])).value, i);
    }
    await other.delete(["n"]);
    assertEquals((await reader.get(["n"])).value, null);
  });
});

Deno.test("Entries that are read together are of one moment", async () => {
  await withReader(async (reader, kv) => {
    let isOver = false;
    const writer = (async () => {
      for (let i = 0; !isOver; i++) {
        await kv.atomic().set(["n", "x"], i).set(["n", "y"], i).commit();
      }
    })();
    for (let round = 0; round < 500; round++) {
      const [x, y] = await reader.getMany<[number, number]>([["n", "x"], ["n", "y"]]);
      assertEquals(x.value, y.value);
      const listed = await Array.fromAsync(reader.list({ prefix: ["n"] }), ({ value }) => value);
      assertEquals(listed[0], listed[1]);
      if (round % 10 === 0) await new Promise((resolve) => setTimeout(resolve, 0));
    }
    isOver = true;
    await writer;
  });
});

Deno.test("Reads in a loop leave time for timers", async () => {
  await withReader(async (reader) => {
    for (const read of [() => reader.get(["a"]), () => reader.getMany([["a"], ["b"]])]) {
      let isOver = false;
      setTimeout(() => isOver = true, 5);
      const end = performance.now() + 5000;
      while (!isOver && performance.now() < end) await read();
      assert(isOver);
    }
    let isOver = false;
    setTimeout(() => isOver = true, 5);
    const end = performance.now() + 5000;
    while (!isOver && performance.now() < end) await Array.fromAsync(reader.list({ prefix: [] }));
    assert(isOver);
  });
});

Deno.test("Reads that waited for the next turn end it after the same time", async () => {
  await withReader(async (reader) => {
    let now = 0;
    const clock = stub(performance, () => now);
    clock.slow(() => now += 0.4);
    let turn = 0;
    let isOver = false;
    const nextTurn = () => {
      turn++;
      if (!isOver) setImmediate(nextTurn);
    };
    setImmediate(nextTurn);
    try {
      const readsOf = new Map<number, number>();
      await Promise.all(Array.from({ length: 20 }, async () => {
        await reader.get(["a", 0]);
        readsOf.set(turn, (readsOf.get(turn) ?? 0) + 1);
      }));
      assert(Math.max(...readsOf.values()) <= 3, [...readsOf].join(" "));
    } finally {
      isOver = true;
      clock.restore();
    }
  });
});

Deno.test("A file that shrinks under a reader is read to its new end", async () => {
  await withFolder(async (folder) => {
    const path = `${folder}/store.db`;
    const first = new DatabaseSync(path);
    first.exec("PRAGMA auto_vacuum = INCREMENTAL; CREATE TABLE t (x); DROP TABLE t");
    first.close();
    using kv = await Deno.openKv(path);
    const chunk = crypto.getRandomValues(new Uint8Array(60_000));
    for (let i = 0; i < 100; i++) await kv.set(["chunk", i], chunk);
    using reader = readerOf(path, kv, true);
    const values = async () =>
      (await Array.fromAsync(reader.list({ prefix: ["chunk"] }, { batchSize: 16 }))).length;
    assertEquals(await values(), 100);
    const before = (await Deno.stat(path)).size;
    for (let i = 0; i < 100; i++) if (i % 10 !== 0) await kv.delete(["chunk", i]);
    const shrinker = new DatabaseSync(path);
    shrinker.exec("PRAGMA busy_timeout = 5000");
    // `exec` would run a single step of these statements.
    for (const step of ["incremental_vacuum", "wal_checkpoint(TRUNCATE)"]) {
      shrinker.prepare(`PRAGMA ${step}`).all();
    }
    shrinker.close();
    assert((await Deno.stat(path)).size < before / 2);
    assertEquals(await values(), 10);
    assertEquals((await reader.get(["chunk", 90])).value, chunk);
    await kv.set(["late"], 1);
    assertEquals((await reader.get(["late"])).value, 1);
  });
});

Deno.test("Reads leave the thread while the disk is slow", async () => {
  await withReader(async (_reader, kv, path) => {
    const asked: string[] = [];
    const unreadable = new UnreadableEntries();
    const watched = new Proxy(recordReader(kv, unreadable), {
      get: (target, name) => {
        asked.push(String(name));
        const found: unknown = Reflect.get(target, name);
        return typeof found === "function" ? found.bind(target) : found;
      },
    });
    let now = 0;
    const clock = stub(performance, () => now);
    try {
      using reader = new SqliteReader(path, watched, { isMapped: false, unreadable });
      const read = async () => {
        assertEquals((await reader.get(["a", 0])).value, 0);
        assertEquals((await reader.getMany([["a", 0]]))[0]?.value, 0);
        assertEquals((await Array.fromAsync(reader.list({ prefix: ["b"] }))).length, 1);
        assertEquals(await reader.names({ start: ["b", ""], end: ["b", 0] }, 9), "x\0");
      };
      await read();
      assertEquals(asked, []);
      clock.slow(() => now += 30);
      await reader.get(["a", 0]);
      clock.slow(() => {});
      await read();
      assertEquals(asked, ["get", "getMany", "list", "names", "list"]);
      now += 1000;
      await read();
      assertEquals(asked.length, 5);
    } finally {
      clock.restore();
    }
  });
});

Deno.test("A value that Deno KV cannot decode has no value while the disk is slow", async () => {
  await withReader(async (_, kv, path) => {
    using other = new DatabaseSync(path);
    const set = other.prepare("UPDATE kv SET v = ?, v_encoding = 1 WHERE k = ?");
    set.run(Uint8Array.of(255, 16, 63), encodeKey(["a", "bb"]));
    await assertRejects(() => kv.get(["a", "bb"]));
    let now = 0;
    const clock = stub(performance, () => now);
    try {
      const unreadable = new UnreadableEntries();
      await using slow = new ThreadReader(path, unreadable);
      using reader = new SqliteReader(path, slow, { isMapped: false, unreadable });
      clock.slow(() => now += 30);
      await reader.get(["a", 0]);
      clock.slow(() => {});
      assertEquals((await reader.get(["a", "bb"])).value, null);
      assertEquals((await reader.getMany([["a", "bb"], ["a", 0]]))[1]?.value, 0);
      assertEquals((await reader.getReferenced(["a", "bb"], () => undefined))[0].value, null);
    } finally {
      clock.restore();
    }
  });
});

Deno.test("Tables of another form are left to Deno KV", async () => {
  await withReader((_reader, _kv, path) => {
    assert(isKnownSchema(path));
    const sqlite = new DatabaseSync(path);
    sqlite.exec("PRAGMA busy_timeout = 5000; INSERT INTO migration_state VALUES (1, 4)");
    sqlite.close();
    assert(!isKnownSchema(path));
    return Promise.resolve();
  });
});

Deno.test("A reader that is closed throws, as does one of a key of an unknown kind", async () => {
  await withReader(async (reader, kv, path) => {
    await kv.set([1n], 1);
    await assertRejects(() => Array.fromAsync(reader.list({ prefix: [] })), TypeError, "form");
    await assertRejects(() => reader.get([true]), TypeError, "strings and numbers");
    const closed = readerOf(path, kv, true);
    closed[Symbol.dispose]();
    await assertRejects(() => closed.get(["a"]));
    await assertRejects(() => Array.fromAsync(closed.list({ prefix: [] })));
  });
});

Deno.test("An entry that cannot be read has no value, is left out of lists, and is reported once", async () => {
  await withReader(async (_, kv, path) => {
    // While the clock stands still no read has waited for the disk. Deno KV, which would read then, ends the process at a
    // counter that has not eight bytes.
    const { now } = performance;
    const time = performance.now();
    performance.now = () => time;
    using _clock = { [Symbol.dispose]: () => void (performance.now = now) };
    using other = new DatabaseSync(path);
    const set = other.prepare("UPDATE kv SET v = ?, v_encoding = ? WHERE k = ?");
    const flipped = sealValue("text") as Uint8Array;
    flipped[6] = (flipped[6] ?? 0) ^ 1;
    set.run(flipped, 3, encodeKey(["a", ""]));
    set.run(Uint8Array.of(255, 16, 63), 1, encodeKey(["a", "bb"]));
    set.run(Uint8Array.of(1, 2), 2, encodeKey(["a", 1]));
    const unreadable = new UnreadableEntries();
    const reported: string[] = [];
    unreadable.report = ({ key, reason }) => reported.push(`${JSON.stringify(key)} ${reason}`);
    using reader = new SqliteReader(path, kv, { isMapped: true, unreadable });
    for (let time = 0; time < 2; time++) {
      const { value, versionstamp } = await reader.get(["a", ""]);
      assertEquals([value, typeof versionstamp], [null, "string"]);
      const list = async (options: ListOptions) =>
        (await Array.fromAsync(reader.list({ start: ["a", ""], end: ["a", 2] }, options)))
          .map(({ key }) => key.at(-1));
      // Bytes of other kinds than those of files are no records, and so is null.
      const whole = ["\0", "\ufeffb", -1, 0];
      assertEquals(await list({}), whole);
      assertEquals(await list({ batchSize: 1 }), whole);
      assertEquals(await list({ limit: 3, batchSize: 2 }), whole.slice(0, 3));
      assertEquals((await list({ unreadable: true })).length, whole.length + 6);
    }
    assertEquals(reported.length, 5);
    assertEquals(reported[0], '["a",""] its checksum does not match');
  });
});

Deno.test("An entry and the one that it refers to are the same as by any other reader", async () => {
  await withReader(async (reader, kv) => {
    await kv.set(["file"], "1");
    await kv.set(["content", "1"], new Uint8Array([1, 2, 3]));
    const referenceOf = (version: string) => version === "" ? undefined : ["content", version];
    const plain: Pick<EntryReader, "getReferenced"> = {
      getReferenced: (key, referenceOf) => readReferenced(kv, key, referenceOf),
    };
    const readers = [plain, reader, new ReadQueue(kv)];
    for (const each of readers) {
      const [file, content] = await each.getReferenced<string, Uint8Array>(["file"], referenceOf);
      assertEquals([file.value, content?.value], ["1", new Uint8Array([1, 2, 3])]);
      assertEquals(content?.versionstamp, (await kv.get(["content", "1"])).versionstamp);
      const [none, reference] = await each.getReferenced<string, Uint8Array>(["none"], () => {
        throw new Error("There is no value");
      });
      assertEquals([none.value, none.versionstamp, reference], [null, null, undefined]);
      const [, missing] = await each.getReferenced<string, Uint8Array>(["file"], () => ["none"]);
      assertEquals(missing?.value, null);
      assertEquals((await each.getReferenced(["file"], () => undefined))[1], undefined);
    }
  });
});

import { assert, assertEquals } from "@std/assert";
import { MIN_PART } from "../../rules/payloads.ts";
import { Database } from "../engine/database.ts";
import { keys, prefixes } from "../engine/keys.ts";
import type { Operation } from "../engine/operation.ts";
import { bytesVersion, CHUNK_SIZE, type FileRecord, type Garbage } from "../engine/records.ts";
import { bytes, place } from "../testing/bodies.ts";
import { assertCompleted, copy, put, read, recordOf, upload } from "../testing/files.ts";
import { assertKeys, assertUsage, keyKinds } from "../testing/entries.ts";
import {
  otherProcess,
  sweepElsewhere,
  sweepLater,
  testOnAll,
  type TestStore,
} from "../testing/stores.ts";
import { dropReference, type ReleasedReference } from "./shared_bytes.ts";

/** How many users of the bytes of a version are counted; `undefined` without an entry. */
async function usersOf({ db }: TestStore, version: string): Promise<bigint | undefined> {
  return (await db.reader.get<Deno.KvU64>(keys.references(version))).value?.value;
}

/** The journal entries of records that no longer use shared bytes. */
async function released({ db }: TestStore): Promise<ReleasedReference[]> {
  const entries = db.reader.list<Garbage>({ prefix: prefixes.all("garbage") });
  const all = await Array.fromAsync(entries);
  return all.filter(({ value }) => value.kind === "reference") as ReleasedReference[];
}

/** Releases the references that are due, then what the last of them has left. */
async function sweepTwice(bench: TestStore): Promise<void> {
  await sweepLater(bench);
  await sweepLater(bench);
}

/** Stores the file `a` and returns its bytes, one way for each layout. */
const LAYOUTS: Record<FileRecord["layout"]["kind"], (bench: TestStore) => Promise<Uint8Array>> = {
  inline: async (bench) => {
    await put(bench, "a", bytes(100));
    return bytes(100);
  },
  chunks: async (bench) => {
    await put(bench, "a", bytes(3 * CHUNK_SIZE));
    return bytes(3 * CHUNK_SIZE);
  },
  manifest: async (bench) => {
    const id = await upload(bench, place("a"), [MIN_PART, 10]);
    assertCompleted(await bench.store.uploads.complete(place("a"), id, () => true));
    return new Uint8Array(await new Blob([bytes(MIN_PART), bytes(10)]).arrayBuffer());
  },
};

for (const [layout, store] of Object.entries(LAYOUTS)) {
  testOnAll(
    `The first copy marks the file, and each copy is counted (${layout})`,
    async (bench) => {
      const data = await store(bench);
      const { version } = await recordOf(bench, "a");
      const stored = bytesVersion(await recordOf(bench, "a"));
      assertEquals(await usersOf(bench, stored), undefined);
      await copy(bench, "a", "b");
      assertEquals(await usersOf(bench, stored), 2n);
      await copy(bench, "b", "c");
      assertEquals(await usersOf(bench, stored), 3n);
      for (const name of ["a", "b", "c"]) {
        const record = await recordOf(bench, name);
        assertEquals([record.shared, record.layout.kind, bytesVersion(record)], [
          true,
          layout,
          stored,
        ]);
        assertEquals(await read(bench, name), data);
      }
      assertEquals((await recordOf(bench, "a")).version, version, "The copied file is the same");
      assertEquals(await released(bench), []);
    },
  );

  testOnAll(
    `Bytes are deleted with the last of the files that share them (${layout})`,
    async (bench) => {
      const data = await store(bench);
      await sweepLater(bench);
      const stored = bytesVersion(await recordOf(bench, "a"));
      await copy(bench, "a", "b");
      await copy(bench, "a", "c");
      await bench.store.files.delete(place("a"));
      assertEquals(await usersOf(bench, stored), 3n, "The journal still uses the bytes");
      await sweepTwice(bench);
      assertEquals(await usersOf(bench, stored), 2n);
      assertEquals(await read(bench, "c"), data);
      await put(bench, "b", bytes(10, 5));
      await sweepTwice(bench);
      assertEquals(await usersOf(bench, stored), 1n);
      assertEquals(await read(otherProcess(bench), "c"), data);
      await bench.store.files.delete(place("c"));
      await sweepTwice(bench);
      assertEquals(await read(bench, "b"), bytes(10, 5));
      assertEquals(await read(bench, "c"), undefined);
      await bench.store.files.delete(place("b"));
      await sweepTwice(bench);
      const { completed_upload: _, ...kinds } = await keyKinds(bench);
      assertEquals(kinds, { "usage files": 1, "usage bytes": 1 });
      await assertUsage(bench, { files: 0, bytes: 0 });
    },
  );
}

testOnAll("The last release makes chunks garbage and deletes a content", async (bench) => {
  for (const size of [10, 2 * CHUNK_SIZE]) {
    await put(bench, "a", bytes(size));
    await copy(bench, "a", "b");
    const { version, ...record } = await recordOf(bench, "a");
    const stored = bytesVersion({ version, ...record });
    for (const name of ["a", "b"]) await bench.store.files.delete(place(name));
    const [first, last, ...others] = await released(bench);
    assert(first !== undefined && last !== undefined && others.length === 0);
    await dropReference(bench.db, first);
    assertEquals([await usersOf(bench, stored), await released(bench)], [1n, [last]]);
    await dropReference(bench.db, last);
    assertEquals(await usersOf(bench, stored), undefined);
    const counters = { "usage files": 1, "usage bytes": 1 };
    const left: Record<string, number> = size > CHUNK_SIZE ? { chunk: 2, garbage: 1 } : {};
    await assertKeys(bench, { ...counters, ...left });
    await sweepLater(bench);
    await assertKeys(bench, counters);
  }
});

testOnAll("Two collectors drop one reference once", async (bench) => {
  await put(bench, "a", bytes(2 * CHUNK_SIZE));
  const stored = bytesVersion(await recordOf(bench, "a"));
  await copy(bench, "a", "b");
  await copy(bench, "a", "c");
  await bench.store.files.delete(place("a"));
  const [reference] = await released(bench);
  assert(reference !== undefined);
  const both = [bench, otherProcess(bench)];
  await Promise.all(both.map(({ db }) => dropReference(db, reference)));
  assertEquals(await usersOf(bench, stored), 2n);
  await dropReference(bench.db, reference);
  assertEquals(await usersOf(bench, stored), 2n);
  await bench.store.files.delete(place("b"));
  await Promise.all([sweepLater(bench), sweepLater(otherProcess(bench)), sweepElsewhere(bench)]);
  assertEquals(await usersOf(bench, stored), 1n);
  assertEquals(await read(bench, "c"), bytes(2 * CHUNK_SIZE));
});

testOnAll(
  "A file that is overwritten while it is shared is released after the grace",
  async (bench) => {
    await put(bench, "a", bytes(2 * CHUNK_SIZE));
    const { version } = await recordOf(bench, "a");
    const stored = bytesVersion(await recordOf(bench, "a"));
    await copy(bench, "a", "b");
    await put(bench, "a", bytes(3 * CHUNK_SIZE, 2));
    const now = await recordOf(bench, "a");
    assert(now.version !== version);
    assertEquals(now.shared, undefined, "The new bytes are not shared");
    const [reference, ...others] = await released(bench);
    assertEquals(others, []);
    assertEquals(reference?.value, {
      kind: "reference",
      ...place("a"),
      version: stored,
      size: 2 * CHUNK_SIZE,
      layout: { kind: "chunks" },
    });
    await bench.store.sweeper.sweep();
    assertEquals([await usersOf(bench, stored), await released(bench)], [2n, [reference]]);
    await sweepLater(bench);
    assertEquals([await usersOf(bench, stored), await released(bench)], [1n, []]);
    assertEquals(await read(bench, "b"), bytes(2 * CHUNK_SIZE));
    const counters = { "usage files": 1, "usage bytes": 1 };
    await assertKeys(bench, { ...counters, file: 2, chunk: 5, references: 1 });
  },
);

testOnAll("A reference to bytes that are being read stays", async (bench) => {
  await put(bench, "a", bytes(2 * CHUNK_SIZE));
  await copy(bench, "a", "b");
  const file = await bench.store.files.reader.open(place("a"));
  assert(file !== undefined);
  const pieces = await file.read({ start: 0, end: 2 * CHUNK_SIZE });
  for (const name of ["a", "b"]) await bench.store.files.delete(place(name));
  await sweepTwice(bench);
  assertEquals((await released(bench)).length, 2);
  const received = await new Blob(await Array.fromAsync(pieces)).arrayBuffer();
  assertEquals(new Uint8Array(received), bytes(2 * CHUNK_SIZE));
  file.close();
  await sweepTwice(bench);
  await assertKeys(bench, { "usage files": 1, "usage bytes": 1 });
});

/** A database in which something happens before the first commit. */
class Interrupted extends Database {
  attempts = 0;

  constructor({ reader, commits }: Database, private readonly happens: () => Promise<void>) {
    super(reader, commits);
  }

  override async commit(operation: Operation): ReturnType<Database["commit"]> {
    if (this.attempts++ === 0) await this.happens();
    return await super.commit(operation);
  }
}

testOnAll(
  "A copy that is made while the last but one reference is dropped is counted",
  async (bench) => {
    await put(bench, "a", bytes(2 * CHUNK_SIZE));
    const stored = bytesVersion(await recordOf(bench, "a"));
    await copy(bench, "a", "b");
    await bench.store.files.delete(place("a"));
    const [reference] = await released(bench);
    assert(reference !== undefined);
    const db = new Interrupted(bench.db, async () => {
      await copy(bench, "b", "c");
      await bench.store.files.delete(place("b"));
    });
    await dropReference(db, reference);
    assertEquals([db.attempts, await usersOf(bench, stored)], [2, 2n]);
    await sweepTwice(bench);
    assertEquals(await usersOf(bench, stored), 1n);
    assertEquals(await read(bench, "c"), bytes(2 * CHUNK_SIZE));
  },
);

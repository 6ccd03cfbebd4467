import { assert, assertEquals, assertNotEquals, assertRejects } from "@std/assert";
import { QuotaExceeded } from "../engine/errors.ts";
import { keys } from "../engine/keys.ts";
import { CHUNK_SIZE, type Place } from "../engine/records.ts";
import { bytes, place } from "../testing/bodies.ts";
import { assertKeys, assertUsage, drivesOf, keyKinds } from "../testing/entries.ts";
import { put, putAt, read, recordOf, upload } from "../testing/files.ts";
import {
  otherProcess,
  sweepElsewhere,
  sweepLater,
  testOnAll,
  type TestStore,
} from "../testing/stores.ts";
import { withClock } from "../testing/time.ts";
import type { CopyKind, CopyRequest } from "./copies.ts";

const ALWAYS = { overwrite: true, condition: () => true };

async function run(
  { store }: TestStore,
  kind: CopyKind,
  from: string | Place,
  to: string | Place,
  options: Partial<CopyRequest> = {},
): Promise<string> {
  const [source, target] = [from, to].map((it) => typeof it === "string" ? place(it) : it);
  assert(source !== undefined && target !== undefined);
  const request = { from: source, to: target, ...ALWAYS, ...options };
  const outcome = await store.files.copies.run(kind, request);
  if (typeof outcome === "string") return outcome;
  assertEquals(await store.files.reader.stat(target), outcome);
  return "done";
}

async function users({ db }: TestStore, name: string): Promise<number> {
  const { bytes, version } = await recordOf({ db } as TestStore, name);
  const { value } = await db.reader.get<Deno.KvU64>(keys.references(bytes ?? version));
  return Number(value?.value ?? 1n);
}

/** Deletes everything, and asserts that nothing is left. */
async function assertNothingStays(bench: TestStore, ...names: string[]): Promise<void> {
  for (const name of names) await bench.store.files.delete(place(name));
  await sweepLater(bench);
  await assertUsage(bench, { files: 0, bytes: 0 });
  const { completed_upload: _, ...left } = await keyKinds(bench);
  assertEquals(left, { "usage files": 1, "usage bytes": 1 });
}

const LAYOUTS: Record<string, (bench: TestStore, name: string) => Promise<number>> = {
  "in one value": async (bench, name) => (await put(bench, name, bytes(1000))).size,
  "in chunks": async (bench, name) => (await put(bench, name, bytes(3 * CHUNK_SIZE))).size,
  "of parts": async (bench, name) => {
    const sizes = [5_000_000, 100];
    const id = await upload(bench, place(name), sizes);
    await bench.store.uploads.complete(place(name), id, () => true);
    return 5_000_100;
  },
};

for (const [layout, store] of Object.entries(LAYOUTS)) {
  testOnAll(
    `Copies of a file ${layout} share its bytes until the last one is gone`,
    async (bench) => {
      const size = await store(bench, "a");
      const content = await read(bench, "a");
      assertEquals(await run(bench, "copy", "a", "b"), "done");
      assertEquals(await run(bench, "copy", "b", "c"), "done");
      assertEquals(await users(bench, "a"), 3);
      await assertUsage(bench, { files: 3, bytes: 3 * size });
      await bench.store.files.delete(place("a"));
      await put(bench, "b", bytes(10));
      await sweepLater(bench);
      await sweepLater(bench);
      assertEquals(await users(bench, "c"), 1);
      assertEquals(await read(bench, "c"), content);
      assertEquals(await read(bench, "b"), bytes(10));
      await assertNothingStays(bench, "b", "c");
    },
  );

  testOnAll(
    `A moved file ${layout} keeps its version and times, and its old name is free`,
    async (bench) => {
      await store(bench, "a");
      const [before, content] = [await recordOf(bench, "a"), await read(bench, "a")];
      assertEquals(await run(bench, "move", "a", "b"), "done");
      assertEquals(await recordOf(bench, "b"), { ...before, sameSecond: true });
      assertEquals(await bench.store.files.reader.stat(place("a")), undefined);
      await put(bench, "a", bytes(7));
      await sweepLater(bench);
      assertEquals(await read(bench, "b"), content);
      assertEquals(await read(bench, "a"), bytes(7));
      await assertNothingStays(bench, "a", "b");
    },
  );
}

testOnAll("A copy is a new version with the type and the digest of its source", async (bench) => {
  const source = await put(bench, "a", bytes(100));
  await put(bench, "old", bytes(5));
  const started = Date.now();
  await run(bench, "copy", "a", "b");
  await run(bench, "copy", "a", "old");
  for (const name of ["b", "old"]) {
    const copy = await recordOf(bench, name);
    assertEquals([copy.type, copy.sha256, copy.size], [source.type, source.sha256, source.size]);
    assertNotEquals(copy.version, source.version);
    assert(copy.created >= started && copy.created === copy.modified);
  }
  assertEquals((await recordOf(bench, "a")).version, source.version, "The source is unchanged");
});

testOnAll(
  "Nothing happens without a source, on a taken target, or if a condition fails",
  async (bench) => {
    await put(bench, "a", bytes(1));
    await put(bench, "b", bytes(2));
    for (const kind of ["copy", "move"] as const) {
      assertEquals(await run(bench, kind, "none", "c"), "absent");
      assertEquals(await run(bench, kind, "a", "b", { overwrite: false }), "taken");
      assertEquals(await run(bench, kind, "a", "c", { condition: () => false }), "refused");
    }
    assertEquals([await read(bench, "a"), await read(bench, "b")], [bytes(1), bytes(2)]);
    await assertUsage(bench, { files: 2, bytes: 3 });
  },
);

testOnAll("A download of a source or an overwritten target ends with its bytes", async (bench) => {
  const [first, second] = [bytes(20 * CHUNK_SIZE), bytes(10 * CHUNK_SIZE, 2)];
  await put(bench, "a", first);
  await put(bench, "b", second);
  using a = await bench.store.files.reader.open(place("a"));
  using b = await bench.store.files.reader.open(place("b"));
  assert(a !== undefined && b !== undefined);
  await run(bench, "move", "a", "b");
  await run(bench, "copy", "b", "c");
  for (const name of ["b", "c"]) await bench.store.files.delete(place(name));
  await sweepLater(bench);
  for (const [file, wanted] of [[a, first], [b, second]] as const) {
    const pieces = await Array.fromAsync(await file.read({ start: 0, end: wanted.byteLength }));
    assertEquals(new Uint8Array(await new Blob(pieces).arrayBuffer()), wanted);
  }
});

testOnAll("Copies and moves between drives change both counters", async (bench) => {
  const there = { ...place("x"), drive: "other" };
  await put(bench, "a", bytes(10));
  await run(bench, "copy", "a", there);
  await run(bench, "move", "a", { ...there, name: "y" });
  const drives = await drivesOf(bench.store, "p");
  assertEquals(drives.map(({ name, files, bytes }) => [name, files, bytes]), [
    ["d", 0, 0],
    ["other", 2, 20],
  ]);
});

testOnAll("A copy counts in full towards the quota, a move not at all", async (bench) => {
  await bench.store.projects.update("p", { maxBytes: 250 });
  await put(bench, "a", bytes(100));
  assertEquals(await run(bench, "copy", "a", "b"), "done");
  await assertRejects(() => run(bench, "copy", "a", "c"), QuotaExceeded);
  assertEquals(await run(bench, "move", "a", "c"), "done");
  assertEquals(await run(bench, "copy", "c", "b"), "done", "It replaces a file of this size");
  await bench.store.projects.update("p", { maxBytes: null });
  await assertUsage(bench, { files: 2, bytes: 200 });
});

testOnAll(
  "Two processes that copy and delete one file at the same time lose nothing",
  async (bench) => {
    const other = otherProcess(bench);
    const content = bytes(2 * CHUNK_SIZE);
    await put(bench, "a", content);
    await Promise.all(Array.from({ length: 20 }, async (_, i) => {
      const process = i % 2 === 0 ? bench : other;
      await run(process, "copy", "a", `copy-${i}`);
      if (i % 3 === 0) await process.store.files.delete(place(`copy-${i}`));
    }));
    await bench.store.files.delete(place("a"));
    await Promise.all([sweepLater(bench), sweepElsewhere(bench)]);
    await Promise.all([sweepLater(bench), sweepElsewhere(bench)]);
    const left = Array.from({ length: 20 }, (_, i) => i).filter((i) => i % 3 !== 0);
    for (const i of left) assertEquals(await read(bench, `copy-${i}`), content);
    assertEquals(await users(bench, `copy-${left[0]}`), left.length);
    await assertNothingStays(bench, ...left.map((i) => `copy-${i}`));
  },
);

testOnAll(
  "Of moves of one file to many names at the same time exactly one succeeds",
  async (bench) => {
    const other = otherProcess(bench);
    await put(bench, "a", bytes(100));
    const outcomes = await Promise.all(Array.from(
      { length: 10 },
      (_, i) => run(i % 2 === 0 ? bench : other, "move", "a", `to-${i}`),
    ));
    assertEquals(outcomes.filter((outcome) => outcome === "done").length, 1);
    await assertUsage(bench, { files: 1, bytes: 100 });
  },
);

testOnAll(
  "A moved file has a date that identifies nothing",
  async (bench) => {
    await withClock(async (forward) => {
      const a = await put(bench, "a", bytes(1));
      await put(bench, "b", bytes(2));
      assertEquals(a.sameSecond, undefined);
      forward(5000);
      await run(bench, "move", "a", "b");
      assertEquals((await recordOf(bench, "b")).sameSecond, true);
      assertEquals((await recordOf(bench, "b")).modified, a.modified);
    });
  },
);

testOnAll(
  "Drives with copies are deleted one after the other, and the last one frees the bytes",
  async (bench) => {
    const there = { ...place("x"), drive: "other" };
    await putAt(bench, place("a"), bytes(3 * CHUNK_SIZE));
    for (const name of ["b", "c"]) await run(bench, "copy", "a", name);
    await run(bench, "copy", "a", there);
    await bench.store.projects.deleteDrive("p", "d");
    await sweepLater(bench);
    using file = await bench.store.files.reader.open(there);
    assert(file !== undefined);
    const pieces = await Array.fromAsync(await file.read({ start: 0, end: 3 * CHUNK_SIZE }));
    assertEquals(new Uint8Array(await new Blob(pieces).arrayBuffer()), bytes(3 * CHUNK_SIZE));
    file.close();
    await bench.store.projects.deleteDrive("p", "other");
    await sweepLater(bench);
    await assertKeys(bench, {});
  },
);

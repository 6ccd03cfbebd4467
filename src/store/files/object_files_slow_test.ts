import { assert, assertEquals, assertRejects } from "@std/assert";
import { MAX_PAYLOAD } from "../../rules/payloads.ts";
import { CHUNK_SIZE, type ObjectChecksum, type ObjectMetadata } from "../engine/records.ts";
import { ANYWAY, bytes, DRIVE, inPieces, place } from "../testing/bodies.ts";
import { assertKeys } from "../testing/entries.ts";
import { put, read, recordOf } from "../testing/files.ts";
import { sweepLater, testOnAll, type TestStore } from "../testing/stores.ts";
import type { WriteCondition } from "./file_record.ts";

const MD5 = "0123456789abcdef0123456789abcdef";
const CHECKSUM: ObjectChecksum = { algorithm: "CRC32", value: "AAAAAA==", type: "FULL_OBJECT" };
const always = () => true;
const OBJECT: ObjectMetadata = {
  headers: { "cache-control": "no-cache" },
  user: { colour: "red" },
};

/** Stores a file as an S3 client does. */
async function putObject({ store }: TestStore, name: string, data: Uint8Array): Promise<void> {
  const accept = () => ({ md5Tag: MD5, checksum: CHECKSUM });
  const outcome = await store.files.put(place(name), inPieces(data), {
    ...{ ...ANYWAY, object: OBJECT, accept },
    announced: data.byteLength,
  });
  assert(outcome !== "refused");
}

async function tagsOf(bench: TestStore, name: string): Promise<unknown[]> {
  const { md5Tag, checksum, object } = await recordOf(bench, name);
  return [md5Tag, checksum, object];
}

testOnAll(
  "A file keeps the tags and metadata of S3 clients until it is overwritten",
  async (bench) => {
    for (const size of [10, 3 * CHUNK_SIZE]) {
      await putObject(bench, "a", bytes(size));
      assertEquals(await tagsOf(bench, "a"), [MD5, CHECKSUM, OBJECT]);
      await put(bench, "a", bytes(size));
      assertEquals(await tagsOf(bench, "a"), [undefined, undefined, undefined]);
    }
  },
);

testOnAll("Copies, moves and the trash keep the tags and metadata of S3 clients", async (bench) => {
  const { copies } = bench.store.files;
  await putObject(bench, "a", bytes(10));
  const free = { overwrite: false, condition: always };
  await copies.run("copy", { from: place("a"), to: place("b"), ...free });
  await copies.run("move", { from: place("a"), to: place("c"), ...free });
  assertEquals(await tagsOf(bench, "b"), [MD5, CHECKSUM, OBJECT]);
  assertEquals(await tagsOf(bench, "c"), [MD5, CHECKSUM, OBJECT]);
  await bench.store.projects.update(DRIVE.project, { trashDays: 1 });
  await bench.store.files.delete(place("c"));
  const { items } = await bench.store.trash.list(DRIVE, { limit: 1, last: "", prefix: "" });
  await bench.store.trash.restore(DRIVE, items[0]?.id ?? "", { overwrite: false });
  assertEquals(await tagsOf(bench, "c"), [MD5, CHECKSUM, OBJECT]);
});

testOnAll("A copy may have another description", async (bench) => {
  const { copies } = bench.store.files;
  for (const size of [10, 3 * CHUNK_SIZE]) {
    await putObject(bench, "a", bytes(size));
    const request = { from: place("a"), to: place("b"), overwrite: true, condition: always };
    for (const object of [{ user: { colour: "blue" } }, undefined]) {
      const replace = { type: "text/x-new", object };
      const record = await copies.run("copy", { ...request, replace });
      assert(typeof record !== "string");
      assertEquals(await tagsOf(bench, "b"), [MD5, CHECKSUM, object]);
      assertEquals((await recordOf(bench, "b")).type, "text/x-new");
      assertEquals(await read(bench, "b"), bytes(size));
    }
    assertEquals(await tagsOf(bench, "a"), [MD5, CHECKSUM, OBJECT]);
  }
});

testOnAll("A copy onto itself makes a new version with the same bytes", async (bench) => {
  const { copies } = bench.store.files;
  for (const size of [10, 3 * CHUNK_SIZE]) {
    await putObject(bench, "a", bytes(size));
    const before = await recordOf(bench, "a");
    const itself = { from: place("a"), to: place("a"), overwrite: true, condition: always };
    const object = { user: { colour: "blue" } };
    const refusing = { ...itself, replace: { type: "a/b", object }, targetCondition: () => false };
    assertEquals(await copies.run("copy", refusing), "refused");
    const record = await copies.run("copy", { ...itself, replace: { type: "a/b", object } });
    assertEquals(record, await recordOf(bench, "a"));
    assertEquals(await tagsOf(bench, "a"), [MD5, CHECKSUM, object]);
    assertEquals(await read(bench, "a"), bytes(size));
    assert((await recordOf(bench, "a")).version > before.version);
    await sweepLater(bench);
    assertEquals(await read(bench, "a"), bytes(size));
  }
  await bench.store.files.delete(place("a"));
  await sweepLater(bench);
  await assertKeys(bench, { "usage files": 1, "usage bytes": 1 });
});

testOnAll("A copy may depend on its target", async (bench) => {
  const { copies } = bench.store.files;
  await putObject(bench, "a", bytes(1));
  const isAbsent: WriteCondition = (current) => current === undefined;
  const request = { from: place("a"), to: place("b"), overwrite: true, condition: always };
  const copy = async () => await copies.run("copy", { ...request, targetCondition: isAbsent });
  assert(typeof await copy() !== "string");
  assertEquals(await copy(), "refused");
  await bench.store.files.delete(place("b"));
  assert(typeof await copy() !== "string");
});

testOnAll("The parts of a file are listed", async (bench) => {
  const { files, uploads } = bench.store;
  const partsOf = async (from: number, limit: number) => {
    return await files.reader.parts(await recordOf(bench, "a"), { from, limit });
  };
  for (const size of [0, 10, 3 * CHUNK_SIZE]) {
    await put(bench, "a", bytes(size));
    assertEquals(await partsOf(1, 10), [{ part: 1, start: 0, size }]);
    assertEquals(await partsOf(2, 10), []);
  }
  const id = await uploads.start(place("a"), undefined);
  const sizes = Array.from({ length: 1201 }, (_, i) => i % 7 + 1);
  for (const [i, size] of sizes.entries()) {
    const named = { id, part: 2 * i + 1, type: undefined };
    await uploads.putPart(place("a"), named, inPieces(bytes(size)), () => {});
  }
  await uploads.complete(place("a"), id, always, { choose: (parts) => ({ parts }) });
  const all = sizes.map((size, i) => ({
    ...{ part: i + 1, size },
    start: sizes.slice(0, i).reduce((sum, each) => sum + each, 0),
  }));
  assertEquals(await partsOf(1, 2000), all);
  for (const from of [1, 2, 500, 501, 502, 1000, 1001, 1201]) {
    assertEquals(await partsOf(from, 3), all.slice(from - 1, from + 2));
  }
  assertEquals(await partsOf(1202, 3), []);
});

testOnAll("Conditions see the entity tag of S3 clients", async (bench) => {
  const { files } = bench.store;
  const has = (tag: string | undefined): WriteCondition => (current) => current?.tag === tag;
  await put(bench, "a", bytes(1));
  assertEquals(await files.delete(place("a"), has(MD5)), "refused");
  await putObject(bench, "a", bytes(1));
  assertEquals(await files.delete(place("a"), has(undefined)), "refused");
  assertEquals(await files.delete(place("a"), has(MD5)), true);
  assertEquals(await files.delete(place("a"), has(MD5)), false);
});

testOnAll("A body may be as large as the caller allows", async (bench) => {
  const data = bytes(MAX_PAYLOAD + 2 * CHUNK_SIZE + 1);
  const { files } = bench.store;
  const large = { ...ANYWAY, maxSize: 2 * MAX_PAYLOAD };
  await files.put(place("a"), inPieces(data), large);
  assertEquals(await read(bench, "a"), data);
  await assertRejects(() => files.put(place("b"), inPieces(data), ANYWAY), RangeError, "more than");
  await sweepLater(bench);
  await assertKeys(bench, { file: 1, chunk: 163, "usage files": 1, "usage bytes": 1 });
  await files.delete(place("a"));
  await sweepLater(bench);
  await assertKeys(bench, { "usage files": 1, "usage bytes": 1 });
});

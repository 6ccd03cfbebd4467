import { assert, assertEquals } from "@std/assert";
import { keys } from "../engine/keys.ts";
import { CHUNK_SIZE, type FileRecord } from "../engine/records.ts";
import { bytes, place } from "../testing/bodies.ts";
import { copy, put, recordOf } from "../testing/files.ts";
import { assertKeys, assertSums, damageEntry, flipBit, keyKinds } from "../testing/entries.ts";
import { otherProcess, sweepLater, testOnAll, type TestStore } from "../testing/stores.ts";
import { FileCheck } from "../maintenance/file_check.ts";
import { OpenVersions } from "../bytes/open_versions.ts";

/** Sizes of files whose bytes are in one value, and in chunks. */
const SIZES = [10, 2 * CHUNK_SIZE];

async function putThumbnail(
  { store }: Pick<TestStore, "store">,
  name: string,
  image: Uint8Array<ArrayBuffer>,
): Promise<FileRecord> {
  const record = await store.files.thumbnails.put(place(name), image, () => true);
  assert(typeof record !== "string");
  return record;
}

/** The bytes of a thumbnail; `undefined` if the file has none. */
async function thumbnailOf(
  { store }: Pick<TestStore, "store">,
  name: string,
): Promise<Uint8Array | undefined> {
  const found = await store.files.thumbnails.get(place(name));
  assert(found !== "absent");
  return found?.bytes;
}

async function usersOf({ db }: TestStore, version: string): Promise<bigint | undefined> {
  return (await db.reader.get<Deno.KvU64>(keys.references(version))).value?.value;
}

for (const size of SIZES) {
  testOnAll(`Copies share it, and it is deleted with the last of them (${size})`, async (bench) => {
    await put(bench, "a", bytes(size));
    const { thumbnail } = await putThumbnail(bench, "a", bytes(100, 2));
    await copy(bench, "a", "b");
    await copy(bench, "b", "c");
    assertEquals(await usersOf(bench, thumbnail?.version ?? ""), 3n);
    assertEquals((await recordOf(bench, "a")).thumbnail?.shared, true);
    // One that is added after the copy is not shared.
    await putThumbnail(bench, "c", bytes(200, 3));
    await bench.store.files.delete(place("a"));
    await sweepLater(bench);
    await sweepLater(bench);
    assertEquals(await thumbnailOf(bench, "b"), bytes(100, 2));
    assertEquals(await thumbnailOf(otherProcess(bench), "c"), bytes(200, 3));
    await copy(bench, "c", "d");
    for (const name of ["b", "c", "d"]) await bench.store.files.delete(place(name));
    await sweepLater(bench);
    await sweepLater(bench);
    await assertKeys(bench, { "usage files": 1, "usage bytes": 1 });
  });

  testOnAll(`Overwriting, replacing and deleting release it (${size})`, async (bench) => {
    const empty = { "usage files": 1, "usage bytes": 1 };
    await put(bench, "a", bytes(size));
    await putThumbnail(bench, "a", bytes(100, 2));
    await putThumbnail(bench, "a", bytes(101, 3));
    assertEquals((await keyKinds(bench))["content"], size > CHUNK_SIZE ? 1 : 2);
    await put(bench, "a", bytes(size, 2));
    assertEquals(await thumbnailOf(bench, "a"), undefined);
    await sweepLater(bench);
    assertEquals((await keyKinds(bench))["content"], size > CHUNK_SIZE ? undefined : 1);
    await putThumbnail(bench, "a", bytes(102, 4));
    await bench.store.files.delete(place("a"));
    await sweepLater(bench);
    await assertKeys(bench, empty);
  });
}

testOnAll("The trash keeps it until the item is gone", async (bench) => {
  await bench.store.projects.update("p", { trashDays: 7 });
  await put(bench, "a", bytes(10));
  await putThumbnail(bench, "a", bytes(100, 2));
  await bench.store.files.delete(place("a"));
  await assertSums(bench);
  const page = { limit: 10, last: "", prefix: "" };
  const { items: [item] } = await bench.store.trash.list(place(""), page);
  assertEquals(
    await bench.store.trash.restore(place(""), item?.id ?? "", { overwrite: false }),
    "restored",
  );
  assertEquals(await thumbnailOf(bench, "a"), bytes(100, 2));
  await bench.store.files.delete(place("a"));
  assertEquals(await bench.store.trash.empty(place("")), 1);
  assertEquals((await keyKinds(bench))["content"], undefined);
});

testOnAll("Two writers leave one, and no bytes of the other", async (bench) => {
  await put(bench, "a", bytes(10));
  const stores = [bench, otherProcess(bench)];
  await Promise.all(
    Array.from(
      { length: 8 },
      (_, i) => putThumbnail(stores[i % 2] ?? bench, "a", bytes(100 + i, i)),
    ),
  );
  assertEquals((await keyKinds(bench))["content"], 2);
  const { thumbnail } = await recordOf(bench, "a");
  assertEquals((await thumbnailOf(bench, "a"))?.byteLength, thumbnail?.size);
});

testOnAll("A drive that is deleted leaves none", async (bench) => {
  await put(bench, "a", bytes(10));
  await putThumbnail(bench, "a", bytes(100, 2));
  await copy(bench, "a", "b");
  await bench.store.projects.deleteDrive("p", "d");
  await bench.store.sweeper.sweep();
  await sweepLater(bench);
  await sweepLater(bench);
  await assertKeys(bench, {});
});

testOnAll("A damaged one counts as none, and the scrub finds it", async (bench) => {
  await put(bench, "a", bytes(10));
  const { thumbnail } = await putThumbnail(bench, "a", bytes(100, 2));
  const check = async () => {
    const source = { db: bench.db, openVersions: new OpenVersions(bench.db) };
    return await new FileCheck(source, place("a"), () => Promise.resolve()).run();
  };
  assertEquals((await check()).kind, "whole");
  await damageEntry(bench, ["content", thumbnail?.version ?? ""], flipBit);
  assertEquals(await thumbnailOf(bench, "a"), undefined);
  const found = await check();
  assert(found.kind === "damaged");
  assertEquals(
    found.problem,
    "of its thumbnail, its bytes are not those that were stored: their SHA-256 differs",
  );
  await putThumbnail(bench, "a", bytes(100, 3));
  assertEquals((await check()).kind, "whole");
});

import { assert, assertEquals } from "@std/assert";
import { DatabaseSync } from "node:sqlite";
import { databasePath, openDatabase } from "../engine/database_file.ts";
import { CHUNK_SIZE } from "../engine/records.ts";
import { Store } from "../store.ts";
import { bytes, place } from "../testing/bodies.ts";
import { put } from "../testing/files.ts";
import { addProject, sweepLater, type TestStore } from "../testing/stores.ts";
import { Compactor, freePages, pageCount } from "./compactor.ts";

/** Runs a test with a store in a file, and the path of that file. */
async function withStoreFile(
  test: (bench: TestStore, path: string) => Promise<void>,
): Promise<void> {
  const folder = await Deno.makeTempDir({ prefix: "kvdrive-compact-" });
  const onError = (error: unknown) => {
    throw error;
  };
  try {
    const db = await openDatabase(folder);
    const store = new Store(db, { onError });
    await addProject(db);
    await test({ db, store }, databasePath(folder));
    await store.close();
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

Deno.test("The store's file shrinks after a large deletion and keeps the other files", async () => {
  await withStoreFile(async (bench, path) => {
    for (let i = 0; i < 5; i++) await put(bench, `gone${i}`, bytes(100 * CHUNK_SIZE, i));
    await put(bench, "kept", bytes(10 * CHUNK_SIZE));
    const before = await sizeOnDisk(path);
    for (let i = 0; i < 5; i++) await bench.store.files.delete(place(`gone${i}`));
    await sweepLater(bench);
    const compactor = new Compactor(path);
    const [, record] = await Promise.all([
      compactor.run({ isShort: true }),
      put(bench, "concurrent", bytes(3)),
    ]);
    assertEquals(record.size, 3);
    await compactor.run({ isShort: true });
    const after = await sizeOnDisk(path);
    assert(after < before / 4, `The files had ${before} bytes and have ${after}`);
    const kept = await bench.store.files.reader.open(place("kept"));
    assertEquals(kept?.record.size, 10 * CHUNK_SIZE);
    kept?.close();
  });
});

Deno.test("Free pages are returned to the disk if they stay free and are a tenth of the file", async () => {
  await withStoreFile(async (bench, path) => {
    for (const [name, size] of [["kept", 1200], ["small", 130], ["middle", 250]] as const) {
      await put(bench, name, bytes(size * CHUNK_SIZE));
    }
    const compactor = new Compactor(path);
    const remove = async (name: string) => {
      await bench.store.files.delete(place(name));
      await sweepLater(bench);
      return pagesIn(path);
    };
    const before = await remove("small");
    assert(before.free >= 2048, `${before.free} free pages`);
    for (let i = 0; i < 10; i++) await compactor.run({ isShort: false });
    assertEquals(pagesIn(path), before);
    const after = await remove("middle");
    for (let i = 0; i < 5; i++) await compactor.run({ isShort: false });
    // Most of the last calls saw only the pages that were free before.
    assertEquals(pagesIn(path), after);
    for (let i = 0; i < 5; i++) await compactor.run({ isShort: false });
    const { total, free } = pagesIn(path);
    assert(total < after.total - 5000 && free < 1000, `${free} of ${total} pages are free`);
  });
});

function pagesIn(path: string): { free: number; total: number } {
  const sqlite = new DatabaseSync(path, { readOnly: true });
  try {
    return { free: freePages(sqlite), total: pageCount(sqlite) };
  } finally {
    sqlite.close();
  }
}

Deno.test("A stopped compactor does nothing", async () => {
  const compactor = new Compactor("/nowhere/at/all.db");
  compactor.stop();
  await compactor.run({ isShort: false });
});

async function sizeOnDisk(path: string): Promise<number> {
  const sizes = await Promise.all([path, `${path}-wal`].map((file) => Deno.stat(file)));
  return sizes.reduce((sum, { size }) => sum + size, 0);
}

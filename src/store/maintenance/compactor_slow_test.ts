import { assert, assertEquals } from "@std/assert";
import { DatabaseSync } from "node:sqlite";
import { KIB } from "../../rules/units.ts";
import { openDatabase } from "../engine/database_file.ts";
import { databaseSize } from "../disk/store_files.ts";
import { CHUNK_SIZE } from "../engine/records.ts";
import { Store } from "../store.ts";
import { bytes, place } from "../testing/bodies.ts";
import { put } from "../testing/files.ts";
import { addProject, sweepLater, type TestStore } from "../testing/stores.ts";
import { Compactor, freePages, pageCount } from "./compactor.ts";

/** The sizes of pages that the bounds were measured with. */
const PAGE = 4 * KIB;

/** Runs a test with a store in files, and their paths: that of the records, and that of the chunks. */
async function withStoreFiles(
  test: (bench: TestStore, paths: string[]) => Promise<void>,
): Promise<void> {
  const folder = await Deno.makeTempDir({ prefix: "kvdrive-compact-" });
  const onError = (error: unknown) => {
    throw error;
  };
  try {
    const db = await openDatabase(folder);
    const store = new Store(db, { onError });
    await addProject(db);
    await test({ db, store }, db.logs.map(({ path }) => path));
    await store.close();
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

Deno.test("The store's files shrink after a large deletion and keep the other files", async () => {
  await withStoreFiles(async (bench, paths) => {
    for (let i = 0; i < 5; i++) await put(bench, `gone${i}`, bytes(100 * CHUNK_SIZE, i));
    await put(bench, "kept", bytes(10 * CHUNK_SIZE));
    const before = await databaseSize(paths) ?? 0;
    for (let i = 0; i < 5; i++) await bench.store.files.delete(place(`gone${i}`));
    await sweepLater(bench);
    const compactor = new Compactor(paths);
    const [, record] = await Promise.all([
      compactor.run({ isShort: true }),
      put(bench, "concurrent", bytes(3)),
    ]);
    assertEquals(record.size, 3);
    await compactor.run({ isShort: true });
    const after = await databaseSize(paths) ?? Infinity;
    assert(after < before / 4, `The files had ${before} bytes and have ${after}`);
    const kept = await bench.store.files.reader.open(place("kept"));
    assertEquals(kept?.record.size, 10 * CHUNK_SIZE);
    kept?.close();
  });
});

Deno.test("Free pages are returned to the disk if they stay free and are a tenth of the file", async () => {
  await withStoreFiles(async (bench, [, path = ""]) => {
    for (const [name, size] of [["kept", 1200], ["small", 130], ["middle", 250]] as const) {
      await put(bench, name, bytes(size * CHUNK_SIZE));
    }
    const compactor = new Compactor([path]);
    const remove = async (name: string) => {
      await bench.store.files.delete(place(name));
      await sweepLater(bench);
      return bytesIn(path);
    };
    const before = await remove("small");
    assert(before.free >= 2048 * PAGE, `${before.free} bytes are free`);
    for (let i = 0; i < 10; i++) await compactor.run({ isShort: false });
    assertEquals(bytesIn(path), before);
    const after = await remove("middle");
    for (let i = 0; i < 5; i++) await compactor.run({ isShort: false });
    // Most of the last calls saw only the pages that were free before.
    assertEquals(bytesIn(path), after);
    for (let i = 0; i < 5; i++) await compactor.run({ isShort: false });
    const { total, free } = bytesIn(path);
    const isSmaller = total < after.total - 5000 * PAGE && free < 1000 * PAGE;
    assert(isSmaller, `${free} of ${total} bytes are free`);
  });
});

function bytesIn(path: string): { free: number; total: number } {
  const sqlite = new DatabaseSync(path, { readOnly: true });
  try {
    const pageSize = Number(sqlite.prepare("PRAGMA page_size").get()?.["page_size"]);
    return { free: freePages(sqlite) * pageSize, total: pageCount(sqlite) * pageSize };
  } finally {
    sqlite.close();
  }
}

Deno.test("A stopped compactor does nothing", async () => {
  const compactor = new Compactor(["/nowhere/at/all.db"]);
  compactor.stop();
  await compactor.run({ isShort: false });
});

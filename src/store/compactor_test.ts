import { assert, assertEquals } from "@std/assert";
import { CHUNK } from "../drive/limits.ts";
import { Compactor } from "./compactor.ts";
import { databasePath, openDatabase } from "./database.ts";
import { Store } from "./store.ts";
import { addProject, bytes, place, put, sweepLater } from "./test_support.ts";

Deno.test("The store's file shrinks after much was deleted, and loses nothing of the rest", async () => {
  const folder = await Deno.makeTempDir({ prefix: "kvdrive-compact-" });
  try {
    const path = databasePath(folder);
    const db = await openDatabase(folder);
    const fail = (error: unknown) => {
      throw error;
    };
    const bench = { db, store: new Store(db, { onError: fail }) };
    await addProject(db);
    for (let i = 0; i < 5; i++) await put(bench, `gone${i}`, bytes(100 * CHUNK, i));
    await put(bench, "kept", bytes(10 * CHUNK));
    const before = await sizeOnDisk(path);
    for (let i = 0; i < 5; i++) await bench.store.files.delete(place(`gone${i}`));
    await sweepLater(bench);
    const compactor = new Compactor(path);
    const [, record] = await Promise.all([compactor.run(), put(bench, "meanwhile", bytes(3))]);
    assertEquals(record.size, 3);
    await compactor.run();
    const after = await sizeOnDisk(path);
    assert(after < before / 4, `The files had ${before} bytes and have ${after}`);
    const kept = await bench.store.files.open(place("kept"));
    assertEquals(kept?.record.size, 10 * CHUNK);
    kept?.close();
    await bench.store.close();
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

Deno.test("A compactor that was stopped does nothing any more", async () => {
  const compactor = new Compactor("/nowhere/at/all.db");
  compactor.stop();
  await compactor.run();
});

async function sizeOnDisk(path: string): Promise<number> {
  const sizes = await Promise.all([path, `${path}-wal`].map((file) => Deno.stat(file)));
  return sizes.reduce((sum, { size }) => sum + size, 0);
}

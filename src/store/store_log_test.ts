import { assert, assertEquals, assertGreater } from "@std/assert";
import { DatabaseSync } from "node:sqlite";
import { CHUNK } from "../drive/limits.ts";
import { Compactor } from "./compactor.ts";
import { databasePath, openDatabase } from "./database.ts";
import { Operation } from "./operation.ts";
import { logSize, LONG_LOG } from "./store_log.ts";

const MIB = 2 ** 20;

async function withStore(
  test: (db: Awaited<ReturnType<typeof openDatabase>>, path: string) => Promise<void>,
): Promise<void> {
  const folder = await Deno.makeTempDir({ prefix: "kvdrive-log-" });
  const db = await openDatabase(folder);
  try {
    await test(db, databasePath(folder));
  } finally {
    await db.close();
    await Deno.remove(folder, { recursive: true });
  }
}

async function write(db: Awaited<ReturnType<typeof openDatabase>>, bytes: number): Promise<void> {
  for (let i = 0; i < bytes / CHUNK; i += 10) {
    const operation = new Operation();
    for (let j = i; j < i + 10; j++) operation.set(["x", j], new Uint8Array(CHUNK));
    await db.commitBulk(operation);
  }
}

function openReader(path: string): DatabaseSync {
  const reader = new DatabaseSync(path);
  reader.exec("BEGIN");
  reader.prepare("SELECT count(*) FROM kv").all();
  return reader;
}

Deno.test("What a reader keeps in the log is growth of the file, until it is checkpointed", async () => {
  await withStore(async (db, path) => {
    await write(db, MIB);
    const reader = openReader(path);
    await write(db, 30 * MIB);
    const growth = db.log?.growth() ?? 0;
    assertGreater(growth, 28 * MIB);
    const before = (await Deno.stat(path)).size;
    reader.exec("COMMIT");
    reader.prepare("PRAGMA wal_checkpoint(PASSIVE)").all();
    assertEquals(db.log?.growth(), 0);
    // The log keeps its size, but needs nothing more.
    assertGreater(logSize(path), 30 * MIB);
    const grown = (await Deno.stat(path)).size - before;
    assert(grown <= growth && grown > growth - MIB, `The file grew by ${grown}, not ${growth}`);
    // Pages that are overwritten need no new space.
    reader.exec("BEGIN");
    reader.prepare("SELECT count(*) FROM kv").all();
    await write(db, 10 * MIB);
    assert((db.log?.growth() ?? 0) < 3 * MIB, `${db.log?.growth()}`);
    reader.close();
  });
});

Deno.test("Nothing is compacted while a reader keeps the log long", async () => {
  await withStore(async (db, path) => {
    await write(db, 20 * MIB);
    const reader = openReader(path);
    await write(db, LONG_LOG + MIB);
    for (let i = 0; i < 20 * MIB / CHUNK; i += 100) {
      const operation = new Operation();
      for (let j = i; j < i + 100; j++) operation.delete(["x", j]);
      await db.commitBulk(operation);
    }
    const before = logSize(path);
    await new Compactor(path).run({ isShort: true });
    assertEquals(logSize(path), before);
    reader.close();
  });
});

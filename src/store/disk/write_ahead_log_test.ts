import { assert, assertEquals, assertGreater } from "@std/assert";
import { DatabaseSync } from "node:sqlite";
import { MIB } from "../../rules/units.ts";
import type { Database } from "../engine/database.ts";
import { openDatabase } from "../engine/database_file.ts";
import { databasePath } from "../disk/store_files.ts";
import { Operation } from "../engine/operation.ts";
import { CHUNK_SIZE } from "../engine/records.ts";
import { Compactor } from "../maintenance/compactor.ts";
import { checkpointAfterRead, type WriteAheadLog } from "./write_ahead_log.ts";

async function withStore(
  test: (db: Database, path: string, log: WriteAheadLog) => Promise<void>,
): Promise<void> {
  const folder = await Deno.makeTempDir({ prefix: "kvdrive-log-" });
  const db = await openDatabase(folder);
  try {
    const [log] = db.logs;
    assert(log !== undefined);
    await test(db, databasePath(folder), log);
  } finally {
    await db.close();
    await Deno.remove(folder, { recursive: true });
  }
}

async function write(db: Database, bytes: number): Promise<void> {
  for (let i = 0; i < bytes / CHUNK_SIZE; i += 10) {
    const operation = new Operation();
    for (let j = i; j < i + 10; j++) operation.set(["x", j], new Uint8Array(CHUNK_SIZE));
    await db.commitBulk(operation);
  }
}

function openReader(path: string): DatabaseSync {
  const reader = new DatabaseSync(path);
  reader.exec("BEGIN");
  reader.prepare("SELECT count(*) FROM kv").all();
  return reader;
}

Deno.test("The log that a reader needs is growth of the file until it is checkpointed", async () => {
  await withStore(async (db, path, log) => {
    await write(db, MIB);
    const reader = openReader(path);
    await write(db, 30 * MIB);
    const growth = log.growth();
    assertGreater(growth, 28 * MIB);
    const before = (await Deno.stat(path)).size;
    reader.exec("COMMIT");
    reader.prepare("PRAGMA wal_checkpoint(PASSIVE)").all();
    assertEquals(log.growth(), 0);
    // The log keeps its size, but needs nothing more.
    assertGreater(log.size, 30 * MIB);
    const grown = (await Deno.stat(path)).size - before;
    assert(grown <= growth && grown > growth - MIB, `The file grew by ${grown}, not ${growth}`);
    // Pages that are overwritten need no new space.
    reader.exec("BEGIN");
    reader.prepare("SELECT count(*) FROM kv").all();
    await write(db, 10 * MIB);
    assert(log.growth() < 3 * MIB, `${log.growth()}`);
    reader.close();
  });
});

Deno.test("Nothing is compacted while a reader keeps the log long", async () => {
  await withStore(async (db, path, log) => {
    await write(db, 20 * MIB);
    const reader = openReader(path);
    await write(db, log.long + MIB);
    for (let i = 0; i < 20 * MIB / CHUNK_SIZE; i += 100) {
      const operation = new Operation();
      for (let j = i; j < i + 100; j++) operation.delete(["x", j]);
      await db.commitBulk(operation);
    }
    // SQLite may have restarted the log before the reader began.
    while (log.size <= log.long) await write(db, MIB);
    const before = log.size;
    await new Compactor([path]).run({ isShort: true });
    assertEquals(log.size, before);
    reader.close();
  });
});

Deno.test("After a long read transaction the log is checkpointed and truncated", async () => {
  const folder = await Deno.makeTempDir();
  try {
    const path = `${folder}/store.db`;
    using kv = await Deno.openKv(path);
    await kv.set(["a"], 1);
    const reader = new DatabaseSync(path);
    reader.exec("BEGIN");
    const count = () => Number(reader.prepare("SELECT count(*) AS n FROM kv").get()?.["n"]);
    assertEquals(count(), 1);
    for (let i = 0; i < 100; i++) await kv.set(["b", i], new Uint8Array(60_000));
    assertEquals(count(), 1);
    assertGreater((await Deno.stat(`${path}-wal`)).size, 5_000_000);
    checkpointAfterRead(path, reader);
    assertEquals(count(), 101);
    assertEquals((await Deno.stat(`${path}-wal`)).size, 0);
    reader.close();
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

Deno.test("A log that writers keep long is not truncated while they wait", async () => {
  const folder = await Deno.makeTempDir();
  try {
    const path = `${folder}/store.db`;
    using kv = await Deno.openKv(path);
    await kv.set(["a"], 1);
    using reader = new DatabaseSync(path);
    reader.exec("BEGIN");
    reader.prepare("SELECT count(*) FROM kv").all();
    const pragmas: string[] = [];
    const other = openReader(path);
    for (let i = 0; i < 100; i++) await kv.set(["b", i], new Uint8Array(60_000));
    checkpointAfterRead(path, {
      exec: (sql) => reader.exec(sql),
      prepare(sql) {
        pragmas.push(sql);
        return reader.prepare(sql);
      },
    });
    other.close();
    // The other reader needs the log's content, as new content of a writer would.
    assertGreater(pragmas.length, 1);
    assert(pragmas.every((sql) => sql === "PRAGMA wal_checkpoint(PASSIVE)"), pragmas.join("; "));
    assertGreater((await Deno.stat(`${path}-wal`)).size, 5_000_000);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

import { assert, assertEquals, assertMatch } from "@std/assert";
import { join } from "@std/path/join";
import { openDatabase } from "../engine/database_file.ts";
import { keys } from "../engine/keys.ts";
import { CHUNK_SIZE } from "../engine/records.ts";
import { withSqlite } from "../disk/sqlite.ts";
import { encodeKey } from "../reads/kv_encoding.ts";
import { Store } from "../store.ts";
import { bytes, place } from "../testing/bodies.ts";
import { setEntry } from "../testing/entries.ts";
import { put, recordOf } from "../testing/files.ts";
import { addProject, type TestStore, withFolder } from "../testing/stores.ts";
import { verifyBackup, verifyStore } from "./verify.ts";

/** Runs a test on a store with two files and one in the trash. */
async function withFiles(test: (bench: TestStore, path: string) => Promise<void>): Promise<void> {
  await withFolder(async (folder) => {
    const db = await openDatabase(folder);
    const store = new Store(db, { onError: (error) => assertEquals(error, undefined) });
    const bench = { db, store };
    try {
      await addProject(db);
      await store.projects.update("p", { trashDays: 1 });
      for (const name of ["small", "large", "deleted"]) {
        await put(bench, name, bytes(name === "large" ? 2 * CHUNK_SIZE : 10));
      }
      await store.files.delete(place("deleted"));
      await test(bench, join(folder, "kvdrive.db"));
    } finally {
      await store.close();
    }
  });
}

/** Changes one bit of an entry's value, as a disk does. */
function flipFirstBit(path: string, key: Deno.KvKey): void {
  withSqlite(path, (sqlite) => {
    const row = sqlite.prepare("SELECT v FROM kv WHERE k = ?").get(encodeKey(key));
    const value = row?.["v"];
    assert(value instanceof Uint8Array);
    const flipped = value.with(0, (value[0] ?? 0) ^ 0x40);
    sqlite.prepare("UPDATE kv SET v = ? WHERE k = ?").run(flipped, encodeKey(key));
  });
}

Deno.test("A record that cannot be decoded is damage, and nothing is repaired beside it", async () => {
  for (const kind of ["file", "trash", "garbage"]) {
    await withFiles(async ({ db }, path) => {
      const [entry] = await Array.fromAsync(db.reader.list({ prefix: [kind] }, { limit: 1 }));
      assert(entry !== undefined);
      flipFirstBit(path, entry.key);
      const { problems } = await verifyStore(path);
      assertEquals(problems.filter(({ repair }) => repair !== undefined), []);
      const unreadable = problems.filter((problem) => problem.kind === "entry");
      assertEquals(unreadable.length, 1);
      assertMatch(
        unreadable[0]?.message ?? "",
        new RegExp(`^The entry \\["${kind}",.* cannot be read`),
      );
    });
  }
});

Deno.test("A backup with a record that cannot be decoded is damaged", async () => {
  await withFiles(async (_, path) => {
    flipFirstBit(path, keys.file(place("small")));
    const problems = await verifyBackup(path, () => {});
    assertEquals(problems.map(({ kind }) => kind), ["entry"]);
    assertMatch(problems[0]?.message ?? "", /^The entry \["file","p","d","small"\] cannot be read/);
  });
});

Deno.test("A record that lacks a field is damage", async () => {
  await withFiles(async (bench, path) => {
    const { layout: _, ...record } = await recordOf(bench, "large");
    await setEntry(bench.db, keys.file(place("large")), record);
    for (
      const problems of [(await verifyStore(path)).problems, await verifyBackup(path, () => {})]
    ) {
      assert(problems.some(({ kind }) => kind === "entry"));
      assertEquals(problems.filter(({ repair }) => repair !== undefined), []);
    }
  });
});

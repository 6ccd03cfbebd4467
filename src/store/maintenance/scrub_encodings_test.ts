import { assertEquals } from "@std/assert";
import { withSqlite } from "../disk/sqlite.ts";
import { byteFilePath, databasePath } from "../disk/store_files.ts";
import { openDatabase } from "../engine/database_file.ts";
import { keys } from "../engine/keys.ts";
import { bytesVersion, CHUNK_SIZE } from "../engine/records.ts";
import { encodeKey } from "../reads/kv_encoding.ts";
import { Store } from "../store.ts";
import { bytes, place } from "../testing/bodies.ts";
import { put, recordOf } from "../testing/files.ts";
import { addProject, scrubOf, withFolder } from "../testing/stores.ts";

/** One flipped bit makes of the number of Deno KV for bytes that for counters. */
function markAsCounter(path: string, key: Deno.KvKey): void {
  withSqlite(path, (sqlite) => {
    const update = sqlite.prepare("UPDATE kv SET v_encoding = v_encoding & ~1 WHERE k = ?");
    assertEquals(Number(update.run(encodeKey(key)).changes), 1);
  });
}

Deno.test("The scrub finds values that are marked as counters", async () => {
  await withFolder(async (folder) => {
    const db = await openDatabase(folder);
    const store = new Store(db, { onError: () => {} });
    try {
      await addProject(db);
      const bench = { db, store };
      for (const name of ["content", "fine", "record"]) await put(bench, name, bytes(10));
      for (const name of ["checksums", "chunk"]) await put(bench, name, bytes(3 * CHUNK_SIZE));
      const records = databasePath(folder);
      const { value: name } = await db.reader.get(keys.byteFile());
      const chunks = byteFilePath(records, name);
      const versionOf = async (name: string) => bytesVersion(await recordOf(bench, name));
      markAsCounter(records, keys.content(await versionOf("content")));
      markAsCounter(chunks, keys.chunk(await versionOf("chunk"), 1));
      markAsCounter(chunks, keys.checksums(await versionOf("checksums"), 0));
      markAsCounter(records, keys.file(place("record")));
      const { scrub, damaged } = scrubOf(bench);
      await scrub.pass();
      const found = (await damaged.list()).map(({ place }) => place.name);
      assertEquals(found, ["checksums", "chunk", "content", "record"]);
    } finally {
      await store.close();
    }
  });
});

import { assertEquals, assertGreater } from "@std/assert";
import { DatabaseSync } from "node:sqlite";
import { endReading } from "./end_reading.ts";

Deno.test("After a long reading the log is taken into the store and cut", async () => {
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
    endReading(path, reader);
    assertEquals(count(), 101);
    assertEquals((await Deno.stat(`${path}-wal`)).size, 0);
    reader.close();
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});
